/**
 * The time limit for a condition of a test, long enough for a busy machine. A test that waits for the
 * minute of pg_cron 1.4 uses `untilTickMs`.
 */
export const patienceMs = 120_000

/** The tick of pg_cron 1.4 begins with the first whole minute of a server's life, and then comes every second. */
export const untilTickMs = 60_000 + patienceMs
