export const SESSION_COOKIE = "acme_session"
export const SESSION_DAYS = 30
