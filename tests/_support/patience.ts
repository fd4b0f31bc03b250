/**
 * A condition of the tests holds within so long, however busy the machine is: waiting for it costs
 * nothing when it holds at once. What waits for the minute of pg_cron 1.4 takes `untilTickMs`.
 */
export const patienceMs = 120_000

/** The tick of pg_cron 1.4 begins with the first whole minute of a server's life, and then comes every second. */
export const untilTickMs = 60_000 + patienceMs
