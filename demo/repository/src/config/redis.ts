export const REDIS_URL = process.env.REDIS_URL ?? "redis://localhost:6379/0"
