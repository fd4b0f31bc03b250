/** Plays the days: publishes, ticks, delivers, cleans up, and takes the figures of each day. */

import { Random } from '../../concurrency/_support/random.ts'
import type { DayFigures } from './figures.ts'
import { Jobs } from './jobs.ts'
import { DayLedger } from './ledger.ts'
import { measure } from './measure.ts'
import { publishStep } from './publishers.ts'
import { outageOf } from './receivers.ts'
import { SimulatedRun, SLOTS } from './run.ts'
import { startWorld, type Without } from './world.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

export interface Plan {
  days: number
  /** Deliveries of one day. */
  perDay: number
  /** How much simulated time passes between two looks at the clock. */
  stepMs: number
  /** To what the times of retries are rounded up. */
  grainMs: number
  seed: number
  without?: Without
  tell?: (figures: DayFigures) => void
}

/** The figures of each day, and the receivers whose ledger does not agree after the last. */
export async function playDays(
  plan: Plan,
): Promise<{ days: DayFigures[]; differences: string[] }> {
  await using world = await startWorld(plan.without ?? null)
  const random = new Random(plan.seed)
  const ledger = new DayLedger()
  const runs = world.sessions.map((sql) => new SimulatedRun(sql, random, ledger))
  const jobs = new Jobs(world)
  const start = world.now()

  const isDown = (endpoint: string): boolean => {
    const day = Math.floor((world.now() - start) / DAY_MS) + 1
    const { endpoint: down, from, until } = outageOf(day, world.endpoints.length)
    const second = (world.now() - start) % DAY_MS / 1000
    return endpoint === world.endpoints[down] && second >= from && second < until
  }

  let turn = 0

  /** Lets the runs work until nothing is due. One is enough for some retries, and much is work for all. */
  const workOff = async (): Promise<void> => {
    const come = runs.filter((run) => run.hasCome(world.now()))
    let working = come.length > 0 ? come : runs.slice(turn % runs.length).slice(0, 1)
    turn++
    while (true) {
      const done = await Promise.all(working.map((run) => run.work(world.now(), isDown)))
      if (done.every((n) => n === 0)) return
      if (done.some((n) => n >= SLOTS / 2)) working = runs
    }
  }

  /** Lets the runs work, and the clock go from one due time to the next, until `end`. */
  const workUntil = async (end: number): Promise<void> => {
    while (true) {
      await workOff()
      if (world.now() >= end) return
      const come = Math.min(...runs.map((run) => run.nextAt()))
      const latest = Math.min(end, Math.ceil(come / plan.grainMs) * plan.grainMs)
      await world.turnClock(plan.grainMs, latest)
      if (world.now() >= end) return
    }
  }

  const days: DayFigures[] = []
  for (let day = 1; day <= plan.days; day++) {
    for (let at = 0; at < DAY_MS; at += plan.stepMs) {
      const begin = start + (day - 1) * DAY_MS + at
      const share = plan.stepMs / DAY_MS
      await publishStep(world, { random, ledger, ...plan, dayShare: at / DAY_MS, share })
      if (at === 12 * HOUR_MS) await runs[0]?.die()
      if (at === 9 * HOUR_MS) await world.sql`select outbox.replay_many()`
      await jobs.tick()
      await jobs.countLanes()
      if (at % HOUR_MS === 0) {
        await jobs.addPartitions()
        await jobs.vacuum()
      }
      await workUntil(begin + plan.stepMs)
      if (at === 21 * HOUR_MS) await discardLetters()
    }
    await jobs.night()
    const figures = await measure({ world, jobs, runs, ledger, day })
    plan.tell?.(figures)
    days.push(figures)
  }
  for (let n = 0; n < 4; n++) {
    await jobs.tick()
    await workUntil(world.now() + HOUR_MS)
  }
  await discardLetters()
  return { days, differences: ledger.differences() }

  /** An operator looks at what failed again, and discards it. */
  async function discardLetters(): Promise<void> {
    const rows = await world.sql<{ event: string; endpoint: string }[]>`
      select x.event_id as event, x.endpoint_id as endpoint,
        outbox.discard_dead_letter(x.event_id, x.endpoint_id, 'the receiver does not want it')
      from outbox.dead_letter x where x.replayed_at is null and x.discarded_at is null`
    for (const { endpoint, event } of rows) ledger.discard(endpoint, event)
  }
}
