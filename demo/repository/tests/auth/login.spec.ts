import { login } from "../../src/auth/login"

test("an unknown person gets nothing", async () => {
  expect(await login("nobody@acme.example", "secret")).toBeNull()
})
