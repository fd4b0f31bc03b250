/** What publishers and operators did and what receivers got, as they saw it themselves. Times are milliseconds since 1970. */

/** What became of a transaction, as its publisher knows it. `maybe`: its COMMIT got no response. */
export type Fate = 'committed' | 'maybe' | 'rolled_back'

/** One event that a publisher published. */
export interface Publication {
  /** Publisher and number, `2:17`; the payload has it too. */
  ref: string
  /** Null: its publisher got no response. */
  id: string | null
  publisher: number
  /** Grows by one with each event of the publisher. */
  n: number
  type: string
  key: string
  fate: Fate
  /** Around the statement that published it. */
  began: number
  ended: number
}

/** One request as its receiver saw it. */
export interface Arrival {
  /** The name of the endpoint. */
  endpoint: string
  ref: string
  /** The header `webhook-id`. */
  id: string
  /** The header `x-attempt`: the failed attempts before it, and one. */
  attempt: number
  at: number
  /** When the receiver began its response; null: it has not, or the connection had ended. */
  answeredAt: number | null
  status: number | null
}

/** One change of the types that an endpoint gets. Around the call; it may have had no effect if not `certain`. */
export interface Wish {
  types: readonly string[]
  began: number
  ended: number
  certain: boolean
}

/** An endpoint of the test. */
export interface Target {
  name: string
  id: string
  ordered: boolean
  /** The first one is that of its creation. */
  wishes: Wish[]
}

/** A call that sends a finished delivery again. */
export interface Replay {
  endpoint: string
  id: string
  at: number
}

/** A move of the clock of the database: in real time from when until when, and by how much. */
export interface ClockMove {
  from: number
  until: number
  /** Below 0: behind. */
  seconds: number
}

/** All of them, in the order in which they were written. */
export class Ledger {
  readonly publications: Publication[] = []
  readonly arrivals: Arrival[] = []
  readonly targets: Target[] = []
  readonly replays: Replay[] = []
  readonly clockMoves: ClockMove[] = []
}

/** How long after a move of the clock a process may still see the time before it, in ms. */
const MOVE_SLACK_MS = 500

/**
 * Whether an endpoint should get an event. `maybe`: a change of its types overlapped, or has an unknown result, or
 * the clock of the database did not tell which of the two was first.
 */
export function isWanted(
  target: Target,
  event: Publication,
  moves: readonly ClockMove[] = [],
): 'yes' | 'no' | 'maybe' {
  const doubt = doubtOf(event, moves)
  const answers = new Set<boolean>()
  let isSettled = false
  for (const wish of target.wishes.toReversed()) {
    if (wish.began > event.ended + doubt) continue
    answers.add(wish.types.includes(event.type))
    isSettled = wish.ended < event.began - doubt && wish.certain
    if (isSettled) break
  }
  // As before the endpoint was created.
  if (!isSettled) answers.add(false)
  if (answers.size !== 1) return 'maybe'
  return answers.has(true) ? 'yes' : 'no'
}

/** By how many ms the dates of an event and of a change may be apart, beside what is between them. */
function doubtOf({ began, ended }: Publication, moves: readonly ClockMove[]): number {
  return moves.reduce((most, { from, until, seconds }) => {
    const ms = Math.abs(seconds) * 1_000
    // A change of the time ahead is dated later than what follows it.
    const touches = ended > from - MOVE_SLACK_MS && began < until + ms + MOVE_SLACK_MS
    return touches ? Math.max(most, ms) : most
  }, 0)
}
