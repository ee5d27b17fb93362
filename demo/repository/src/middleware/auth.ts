import { SESSION_COOKIE } from "../auth/session"

export function readSession(cookies: Record<string, string>): string | undefined {
  return cookies[SESSION_COOKIE]
}
