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

/** All of them, in the order in which they were written. */
export class Ledger {
  readonly publications: Publication[] = []
  readonly arrivals: Arrival[] = []
  readonly targets: Target[] = []
  readonly replays: Replay[] = []
}

/** Whether an endpoint should get an event. `maybe`: a change of its types overlapped, or has an unknown result. */
export function isWanted(target: Target, event: Publication): 'yes' | 'no' | 'maybe' {
  const answers = new Set<boolean>()
  for (const wish of target.wishes.toReversed()) {
    if (wish.began > event.ended) continue
    answers.add(wish.types.includes(event.type))
    if (wish.ended < event.began && wish.certain) break
  }
  if (answers.size !== 1) return 'maybe'
  return answers.has(true) ? 'yes' : 'no'
}
