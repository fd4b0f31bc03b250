import type { Clock } from '../../../functions/_shared/base/clock.ts'

type Timer = { at: number; order: number; run: () => void }

/** A clock that stands still until it is turned. */
export type FakeClock = Clock & {
  /** Lets `ms` pass: each timer runs at its time, and what it sets off settles before the next one. */
  advance(ms: number): Promise<void>
  /** Timers that are still to come. */
  readonly pending: number
}

export function createFakeClock(): FakeClock {
  const timers = new Set<Timer>()
  let time = 1_000
  let order = 0

  function after(ms: number, run: () => void): () => void {
    const timer = { at: time + Math.max(0, ms), order: order++, run }
    timers.add(timer)
    return () => void timers.delete(timer)
  }

  async function advance(ms: number): Promise<void> {
    const end = time + ms
    await settle()
    for (let next = earliest(); next !== undefined && next.at <= end; next = earliest()) {
      timers.delete(next)
      time = next.at
      next.run()
      await settle()
    }
    time = end
  }

  function earliest(): Timer | undefined {
    return [...timers].sort((a, b) => a.at - b.at || a.order - b.order)[0]
  }

  return {
    now: () => time,
    wallNow: () => Date.UTC(2026, 0, 1) + time,
    after,
    advance,
    get pending() {
      return timers.size
    },
  }
}

/** Promise callbacks run in turns; the longest chain of them here is far shorter than this. */
async function settle(): Promise<void> {
  for (let i = 0; i < 100; i++) await Promise.resolve()
}
