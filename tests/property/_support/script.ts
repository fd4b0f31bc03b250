/** Scripts: what fast-check makes up and shortens. Times are microseconds, as the database keeps them. */

import * as fc from 'fast-check'

/** How one endpoint of a script is set up. */
export interface EndpointSpec {
  org: 'default' | 'outhook'
  patterns: string[]
  ordering: 'none' | 'partition' | 'endpoint'
  maxInFlight: number
  quantum: number
  /** Seconds; delay n follows failure n. */
  delays: number[]
  maxRetries: number
  /** Deliveries a second, or no limit. */
  rate: number | null
  onDeadLetter: 'continue' | 'halt'
  /** Consecutive failures that open the breaker; null: there is none. */
  threshold: number | null
}

/** What a receiver does, as a run reports it; `renew`: nothing yet. */
export interface Outcome {
  outcome: 'delivered' | 'failed' | 'released' | 'renew'
  status?: number
  error_class?: string
  retry_after?: string
}

/** One result of a call: the nth claim that the run may report next, or of those that were reported. */
export interface Pick {
  pick: number
  again: boolean
  /** The run dies behind this result: of an ordered lane it gives nothing back. */
  dies: boolean
  outcome: Outcome
}

export interface DispatchStep {
  op: 'dispatch'
  run: number
  room: number
  results: Pick[]
  ended: boolean
}

export interface PublishStep {
  op: 'publish'
  type: string
  key: string | null
  idem: string | null
  endpoint: number | null
  delay: number | null
}

export type Step =
  | DispatchStep
  | PublishStep
  | { op: 'repeat'; run: number; back: number }
  | { op: 'clock'; by: number }
  | { op: 'next_due' }
  | { op: 'pause' | 'resume' | 'disable' | 'delete'; endpoint: number }
  | { op: 'resume_lane'; endpoint: number; key: string | null }
  | { op: 'replay' | 'retry_now' | 'cancel' | 'discard'; pick: number; of: string }
  | { op: 'replay_many'; endpoint: number; rate: number }
  | { op: 'tick' | 'cleanup' }
  | { op: 'worker'; on: boolean }
  | { op: 'batch'; size: number }

export interface Script {
  endpoints: EndpointSpec[]
  steps: Step[]
}

const MS = 1000
const SECOND = 1000 * MS
const DAY = 86_400 * SECOND

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ outcome: 'delivered', status: 200 } as const) },
  { weight: 5, arbitrary: fc.constant({ outcome: 'failed', status: 500 } as const) },
  {
    weight: 8,
    arbitrary: fc.constantFrom<Outcome>(
      { outcome: 'released' },
      { outcome: 'renew' },
      { outcome: 'failed', error_class: 'timeout' },
      { outcome: 'failed', error_class: 'network' },
      { outcome: 'failed', error_class: 'blocked' },
      { outcome: 'failed', status: 302 },
      { outcome: 'failed', status: 404 },
      { outcome: 'failed', status: 410 },
      { outcome: 'failed', status: 429 },
      { outcome: 'failed', status: 429, retry_after: '7' },
      { outcome: 'failed', status: 503, retry_after: '90' },
    ),
  },
)

const pick: fc.Arbitrary<Pick> = fc.record({
  pick: fc.nat(5),
  again: fc.nat(7).map((n) => n === 7),
  dies: fc.nat(5).map((n) => n === 5),
  outcome,
})

const run = fc.nat(2)
const key = fc.constantFrom(null, 'k1', 'k2')

function endpointOf(count: number): fc.Arbitrary<number> {
  return fc.nat(count - 1)
}

function stepOf(count: number): fc.Arbitrary<Step> {
  const endpoint = endpointOf(count)
  const nth = fc.nat(9)
  return fc.oneof(
    {
      weight: 26,
      arbitrary: fc.record<PublishStep>({
        op: fc.constant('publish'),
        type: fc.constantFrom('a.x', 'b.y'),
        key,
        idem: fc.option(fc.constantFrom('i1', 'i2'), { freq: 6 }),
        endpoint: fc.option(endpoint, { freq: 3 }),
        delay: fc.option(fc.constantFrom(1, 60, 90_000), { freq: 6 }),
      }),
    },
    {
      weight: 46,
      arbitrary: fc.record<DispatchStep>({
        op: fc.constant('dispatch'),
        run,
        room: fc.constantFrom(100, 0, 1, 3),
        results: fc.array(pick, { maxLength: 5 }),
        ended: fc.nat(19).map((n) => n === 19),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ op: fc.constant('repeat' as const), run, back: fc.nat(2) }),
    },
    {
      weight: 16,
      arbitrary: fc.record({
        op: fc.constant('clock' as const),
        by: fc.oneof(
          { weight: 6, arbitrary: fc.constantFrom(20 * MS, SECOND, 5 * SECOND, 30 * SECOND) },
          { weight: 3, arbitrary: fc.constantFrom(-2 * MS, -300 * MS, 3600 * SECOND) },
          { weight: 1, arbitrary: fc.constantFrom(DAY, 6 * DAY, 9 * DAY, 40 * DAY) },
        ),
      }),
    },
    { weight: 6, arbitrary: fc.constant({ op: 'next_due' as const }) },
    {
      weight: 6,
      arbitrary: fc.record({
        op: fc.constantFrom(
          'pause' as const,
          'resume' as const,
          'resume' as const,
          'disable' as const,
        ),
        endpoint,
      }),
    },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('delete' as const), endpoint }) },
    { weight: 2, arbitrary: fc.record({ op: fc.constant('resume_lane' as const), endpoint, key }) },
    {
      weight: 12,
      arbitrary: fc.oneof(
        fc.record({
          op: fc.constant('replay' as const),
          pick: nth,
          of: fc.constantFrom('finished', 'dead', 'any'),
        }),
        fc.record({
          op: fc.constantFrom('retry_now' as const, 'cancel' as const),
          pick: nth,
          of: fc.constant('open'),
        }),
        fc.record({ op: fc.constant('discard' as const), pick: nth, of: fc.constant('dead') }),
      ),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        op: fc.constant('replay_many' as const),
        endpoint,
        rate: fc.constantFrom(1, 50),
      }),
    },
    { weight: 9, arbitrary: fc.constant({ op: 'tick' as const }) },
    { weight: 1, arbitrary: fc.constant({ op: 'cleanup' as const }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('worker' as const), on: fc.boolean() }) },
    {
      weight: 1,
      arbitrary: fc.record({
        op: fc.constant('batch' as const),
        size: fc.constantFrom(1, 2, 1000),
      }),
    },
  )
}

const endpointSpec: fc.Arbitrary<EndpointSpec> = fc.record<EndpointSpec>({
  org: fc.nat(9).map((n) => n === 9 ? 'outhook' : 'default'),
  patterns: fc.constantFrom(['*'], ['a.*'], ['b.y', '*']),
  ordering: fc.constantFrom('none', 'partition', 'endpoint'),
  maxInFlight: fc.constantFrom(50, 1, 2, 3),
  quantum: fc.constantFrom(25, 1, 2, 3),
  delays: fc.constantFrom([1, 5, 15], [0], [60]),
  maxRetries: fc.constantFrom(2, 0, 1),
  rate: fc.option(fc.constantFrom(1, 10), { freq: 5 }),
  onDeadLetter: fc.constantFrom('continue', 'halt'),
  threshold: fc.constantFrom(null, 1, 2, 5),
})

/** Scripts of up to `most` steps for one to three endpoints. */
export function scripts(most: number): fc.Arbitrary<Script> {
  return fc.array(endpointSpec, { minLength: 1, maxLength: 3 }).chain((endpoints) =>
    fc.record({
      endpoints: fc.constant(endpoints),
      steps: fc.array(stepOf(endpoints.length), { minLength: 1, maxLength: most, size: 'max' }),
    })
  )
}
