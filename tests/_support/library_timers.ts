/**
 * Options of a test that opens connections with kafkajs. Its timers outlive a connection that the other side has
 * ended: on a busy machine they would count as leaks of the test.
 */
export const libraryTimers = { sanitizeOps: false, sanitizeResources: false } as const
