import type { Random } from '../../../concurrency/_support/random.ts'
import { type Act, type Family, type Fault, pause } from '../fault.ts'

const HOUR = 3_600
/** What is planned while the clock of the database is ahead is late by as much, and must still end within the bound. */
const DATABASE_MOST = 30

/** Clocks jump, and back. */
export const clockFaults: Family = {
  'worker clock ahead': async ({ world: { workers }, random, ms }) =>
    await workers.moveClock(random.int(workers.count), 1 + random.int(HOUR), ms),

  'worker clock behind': async ({ world: { workers }, random, ms }) =>
    await workers.moveClock(random.int(workers.count), -1 - random.int(HOUR), ms),

  'database clock ahead': database((random) => 1 + random.int(DATABASE_MOST)),
  'database clock behind': database((random) => -1 - random.int(DATABASE_MOST)),
}

function database(choose: (random: Random) => number): Fault {
  return async ({ world: { server, ledger }, random, ms }: Act) => {
    const seconds = choose(random)
    await server.withClock(async (set) => {
      const move = { from: Date.now(), until: Infinity, seconds }
      // Before the move, so that the checker knows of it whatever happens.
      ledger.clockMoves.push(move)
      await set(seconds)
      await pause(ms)
      await set(0)
      move.until = Date.now()
    })
  }
}
