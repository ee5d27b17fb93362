export interface User {
  email: string
  verify(password: string): Promise<boolean>
  openSession(): string
}

export declare function findUser(email: string): Promise<User | null>
