import { findUser } from "../models/User"

export async function login(email: string, password: string): Promise<string | null> {
  const user = await findUser(email)
  if (user === null || !(await user.verify(password))) {
    return null
  }
  return user.openSession()
}
