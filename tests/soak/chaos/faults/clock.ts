import type { Family } from '../fault.ts'

const HOUR = 3_600

/** Clocks jump. That of the database must not: attempts are compared with what receivers saw. */
export const clockFaults: Family = {
  'worker clock ahead': async ({ world: { workers }, random, ms }) =>
    await workers.moveClock(random.int(workers.count), 1 + random.int(HOUR), ms),

  'worker clock behind': async ({ world: { workers }, random, ms }) =>
    await workers.moveClock(random.int(workers.count), -1 - random.int(HOUR), ms),
}
