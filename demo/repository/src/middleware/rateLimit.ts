// INT-004: limits come here once Redis is deployed to staging.
export const REQUESTS_PER_MINUTE = 10
