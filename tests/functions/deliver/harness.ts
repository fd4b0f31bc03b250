import type {
  Delivery,
  Endpoint,
  EventRow,
  Outcome,
} from '../../../functions/_shared/contract/contract.ts'
import type { SenderDeps } from '../../../functions/_shared/senders/sender.ts'
import { createPolicySource } from '../../../functions/_shared/connect/address.ts'
import { sleep } from '../../../functions/_shared/base/clock.ts'
import { createKeyCache } from '../../../functions/_shared/signing/sign.ts'
import { type RunOptions, workerOptions } from '../../../functions/deliver/options.ts'
import type { RunDeps, RunSummary } from '../../../functions/deliver/active_run.ts'
import { run } from '../../../functions/deliver/run.ts'
import { createFakeClock, type FakeClock } from './fake_clock.ts'
import type { RunRefusal } from '../../../functions/deliver/refusal.ts'
import { createFakeDatabase, type FakeDatabase } from './fake_database.ts'

/** How a delivery goes: how long it takes and what comes of it. */
export type Course = { ms?: number; outcome?: Outcome }

export type Harness = {
  clock: FakeClock
  database: FakeDatabase
  /** Events in the order in which they were sent, with the time. */
  sent: { event: string; at: number }[]
  /** The time that the sender had for the signature of each event, in ms since 1970. */
  signedAt: number[]
  /** By event; what is not in it takes 10 ms and succeeds. */
  courses: Record<string, Course>
  stop: AbortController
  /** What the runtime says of the process's CPU. */
  cpuMs: number | null
  /** What the run waits for between some sends and the next ones; nothing unless a test says so. */
  yieldTurn(): Promise<void>
  /** One dispatch at a time unless the options say otherwise. */
  start(options?: Partial<RunOptions>): Promise<RunSummary>
  /** What the run has logged, as `level message`. */
  readonly log: string[]
  /** The errors in those lines. */
  readonly errors: unknown[]
  /** For each response: why the run was refused, or null. */
  readonly begun: (RunRefusal | null)[]
  /** More dependencies of the next run. */
  readonly more: Partial<RunDeps>
  /** Null until the run has ended. */
  readonly summary: RunSummary | null
}

/** A run with a clock, a database and a sender that the test moves. */
export function createHarness(base: RunOptions = workerOptions): Harness {
  const clock = createFakeClock()
  const database = createFakeDatabase(clock)
  const stop = new AbortController()
  const sent: Harness['sent'] = []
  const signedAt: number[] = []
  const courses: Record<string, Course> = {}
  const log: string[] = []
  const errors: unknown[] = []
  const more: Partial<RunDeps> = {}
  const begun: (RunRefusal | null)[] = []
  let summary: RunSummary | null = null

  async function send(
    { event }: Delivery,
    _endpoint: Endpoint,
    _row: EventRow,
    { wallNow }: SenderDeps,
  ): Promise<Outcome> {
    sent.push({ event, at: clock.now() })
    signedAt.push(wallNow())
    const { ms = 10, outcome = { outcome: 'delivered', status: 200 } } = courses[event] ?? {}
    await sleep(clock, ms)
    return outcome
  }

  async function start(options: Partial<RunOptions> = {}): Promise<RunSummary> {
    summary = await run({
      database,
      clock,
      stop: stop.signal,
      random: () => 0.5,
      uuid: () => 'run-1',
      yieldTurn: () => harness.yieldTurn(),
      cpuMs: () => harness.cpuMs,
      log: (level, message, { error } = {}) => {
        log.push(`${level} ${message}`)
        if (error !== undefined) errors.push(error)
      },
      senders: new Map([['webhook', { send }]]),
      ...more,
      dispatched: (refusal) => void begun.push(refusal),
      observe: () => {},
      follow: () => {},
      keys: createKeyCache(),
      policyOf: createPolicySource(),
      transport: {
        post: () => Promise.reject(new Error('the harness sends nothing')),
        close: () => Promise.resolve(),
      },
    }, { ...base, maxDispatches: 1, ...options })
    return summary
  }

  const harness: Harness = {
    clock,
    database,
    sent,
    signedAt,
    courses,
    stop,
    log,
    errors,
    begun,
    more,
    cpuMs: null,
    yieldTurn: () => Promise.resolve(),
    start,
    get summary() {
      return summary
    },
  }
  return harness
}

/** A failure as a sender reports it. */
export const failure: Outcome = {
  outcome: 'failed',
  error_class: 'status',
  error: 'The endpoint responded with 500',
  status: 500,
}

/** So many deliveries with nothing special about them. */
export function many(count: number): Partial<Delivery>[] {
  return Array.from({ length: count }, () => ({}))
}

/** Stops a worker's run and waits for its end. */
export async function stopRun(
  { stop, clock }: Harness,
  running: Promise<RunSummary>,
): Promise<void> {
  stop.abort()
  await clock.advance(60_000)
  await running
}
