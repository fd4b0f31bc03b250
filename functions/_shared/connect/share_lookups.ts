import { type Clock, systemClock } from '../base/clock.ts'
import { asError } from '../base/errors.ts'
import { createHungNames } from './hung_names.ts'
import { createTurns, type Slot } from './turns.ts'

/** An address of a name; `family` is 4 or 6. */
export type ResolvedAddress = { address: string; family: number }

/** Who asks for a name. */
export type Asker = {
  /** The organisation that the connection is for; absent: the name is the operator's. */
  org?: string | undefined
  /** How long the lookup may wait until it starts, in ms; absent: 5 s. */
  waitMs?: number | undefined
}

/**
 * Resolves with all addresses of a name, A and AAAA; rejects without any, and with LookupWaitError if the lookup
 * did not start in time.
 */
export type Resolve = (hostname: string, asker?: Asker) => Promise<ResolvedAddress[]>

/** Too many other lookups were in progress. It says nothing about the name. */
export class LookupWaitError extends Error {
  override readonly name = 'LookupWaitError'
  readonly code = 'OUTHOOK_LOOKUP'

  constructor() {
    super('The host name was not looked up in time, because many other lookups were in progress')
  }
}

export type LookupOptions = {
  /** How many threads of the process can look up names. */
  threads: number
  clock?: Clock
}

/** A name that waits for a slot, and what starts each of those who ask for it. */
type Waiting = {
  callers: Set<(lookup: Promise<ResolvedAddress[]>) => void>
  leave(): void
}

/** After this time, the servers of a name are taken for ones that do not reply. */
const hungMs = 1_000
const defaultWaitMs = 5_000

/**
 * Makes one lookup of a name at a time, whose result all get that ask meanwhile. The system's resolver cannot be
 * cancelled: a name whose servers do not reply holds a thread for up to a minute. So fewer lookups than threads
 * are in progress, organisations get them in turns, and names that did not reply the last time have a few of
 * their own.
 */
export function shareLookups(
  resolve: (hostname: string) => Promise<ResolvedAddress[]>,
  { threads, clock = systemClock }: LookupOptions,
): Resolve {
  const running = new Map<string, Promise<ResolvedAddress[]>>()
  const waiting = new Map<string, Waiting>()
  const hung = createHungNames(clock)
  // Together fewer than the threads, of which files need some too.
  const turns = createTurns(Math.max(1, Math.floor(threads * 3 / 4)))
  const turnsOfHung = createTurns(Math.max(1, Math.floor(threads * 3 / 16)))

  return function lookup(
    hostname,
    { org = '', waitMs = defaultWaitMs } = {},
  ): Promise<ResolvedAddress[]> {
    const known = running.get(hostname)
    if (known !== undefined) return known
    return new Promise((done, fail) => {
      const past = hung.find(hostname)
      if (past?.isFresh) return fail(past.error)
      const name = `${org} ${hostname}`
      const entry = waiting.get(name) ?? { callers: new Set(), leave: () => {} }
      const stop = clock.after(waitMs, () => {
        entry.callers.delete(begin)
        if (entry.callers.size === 0) {
          waiting.delete(name)
          entry.leave()
        }
        fail(past?.error ?? new LookupWaitError())
      })
      entry.callers.add(begin)
      if (entry.callers.size === 1) enqueue(name, hostname, org, entry)

      function begin(lookup: Promise<ResolvedAddress[]>): void {
        stop()
        done(lookup)
      }
    })
  }

  function enqueue(name: string, hostname: string, org: string, entry: Waiting): void {
    waiting.set(name, entry)
    const pool = hung.find(hostname) === null ? turns : turnsOfHung
    entry.leave = pool.take(org, (slot) => {
      waiting.delete(name)
      const result = run(hostname, slot)
      for (const begin of entry.callers) begin(result)
    })
  }

  function run(hostname: string, slot: Slot): Promise<ResolvedAddress[]> {
    const known = running.get(hostname)
    // Another organisation looks it up by now.
    if (known !== undefined) {
      slot.leave()
      return known
    }
    let isHung = false
    const stop = clock.after(hungMs, () => {
      isHung = true
      slot.isLong()
    })
    const result = resolve(hostname).then((addresses) => {
      end(null)
      return addresses
    }, (cause) => {
      end(asError(cause))
      throw cause
    })
    running.set(hostname, result)
    return result

    function end(failure: Error | null): void {
      stop()
      running.delete(hostname)
      if (isHung && failure !== null) hung.add(hostname, failure)
      else hung.forget(hostname)
      slot.leave()
    }
  }
}
