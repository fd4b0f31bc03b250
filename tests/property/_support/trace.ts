/** What comes back from the database of one sequence: every step with what it answered and what is there then. */

import type { Step } from './script.ts'

/** A row of attempt that a step wrote; of a close, `failures` is its dead letter's retry_count. */
export interface AttemptRow {
  event: string
  endpoint: string | null
  attempt: number
  kind: 'attempt' | 'close'
  outcome: string
  errorClass: string | null
  status: number | null
  retryAt: number | null
  failures: number | null
}

/** An open delivery: event, endpoint, attempt, failed_attempts, whether it is leased. In the order of its lane. */
export type OpenRow = [
  event: string,
  endpoint: string,
  attempt: number,
  failed_attempts: number,
  leased: boolean,
]

/** A gate: endpoint, the endpoint's status, breaker, in_flight, depth, not_before, whether it is due. */
export type GateRow = [
  endpoint: string,
  status: string,
  breaker: string,
  inFlight: number,
  depth: number,
  notBefore: number,
  due: boolean,
]

/** A result as dispatch() got it. */
export interface Result {
  event: string
  endpoint: string
  attempt: number
  outcome: 'delivered' | 'failed' | 'released' | 'renew'
  status?: number
  error_class?: string
  retry_after?: string
}

export interface Claim {
  event: string
  endpoint: string
  attempt: number
  failed_attempts: number
  lane: string
  ordered: boolean
  lease_ms: number
}

export interface Answer {
  applied: number
  stale: number
  routed: number
  repeat: boolean
  stop: string | null
  deliveries: Claim[]
  renewed: { event: string; endpoint: string; attempt: number; lease_ms: number }[] | null
  error: { route?: string; claim?: string } | null
}

/** What a step did: `answer` of a dispatch, `event` of a publish, the pair that the step was about, or a refusal. */
export interface Did {
  results?: Result[]
  /** How many deliveries the run said that it holds. */
  held?: number
  answer?: Answer
  event?: string
  pair?: { event_id: string; endpoint_id: string }
  refused?: string
  replaced?: boolean
}

export interface Seen {
  step: Step
  did: Did
  at: number
  events: { id: string; org: string; type: string; key: string | null; at: number }[] | null
  unrouted: string[]
  attempts: AttemptRow[]
  open: OpenRow[]
  gates: GateRow[]
  broken: string[]
}

export interface Ending {
  settled: boolean
  rounds: number
}

export interface Trace {
  seen: Seen[]
  ending: Ending
}

/** Splits what property.play() returns: the steps, then how it ended. */
export function readTrace(played: (Seen | Ending)[]): Trace {
  const ending = played.at(-1)
  if (ending === undefined || !('settled' in ending)) throw new Error('the trace has no end')
  return { seen: played.filter((row): row is Seen => 'step' in row), ending }
}
