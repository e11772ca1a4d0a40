/** Functions end after 100 s (see infra/functions.ts), so nobody works on an instance for longer than this. */
export const leaseMs = 120_000
