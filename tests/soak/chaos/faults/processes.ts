import { type Family, pause } from '../fault.ts'
import type { Kept } from '../kept.ts'
import type { World } from '../world.ts'

/** Longer than the leases of the endpoints, which are 7 s. */
const BEYOND_LEASE_MS = 8_000

/** Workers die and freeze. */
export const workerFaults: Family<Pick<World, 'workers'>> = {
  'worker killed': async ({ world: { workers }, random, ms }) =>
    await workers.replace(random.int(workers.count), Math.min(ms, 2_000)),

  'worker restarted': async ({ world: { workers }, random }) =>
    await workers.restart(random.int(workers.count)),

  'worker frozen': async ({ world: { workers }, random, ms }) =>
    await workers.freeze(random.int(workers.count), ms),

  'worker frozen beyond its leases': async ({ world: { workers }, random, ms }) =>
    await workers.freeze(random.int(workers.count), BEYOND_LEASE_MS + ms),
}

/** Processes die and freeze. */
export const processFaults: Family = {
  ...workerFaults,

  'function killed': ({ world: { platform } }) => {
    signal(platform, 'SIGKILL')
    return Promise.resolve()
  },

  async 'function frozen'({ world: { platform }, random, ms }): Promise<void> {
    const pid = signal(platform, 'SIGSTOP')
    await pause(random.int(2) === 0 ? ms : BEYOND_LEASE_MS + ms)
    if (pid === platform.said('deliver')) signal(platform, 'SIGCONT')
  },

  'gateway killed': ({ world: { platform }, ms }) =>
    Promise.resolve(platform.kill(Math.min(ms, 2_000))),
}

/** Signals the process of the function, if there is one now, and gives its id. */
function signal(platform: Kept, name: Deno.Signal): string | null {
  const pid = platform.said('deliver')
  try {
    if (pid !== null && pid !== '') Deno.kill(Number(pid), name)
  } catch {
    // It has ended.
  }
  return pid
}
