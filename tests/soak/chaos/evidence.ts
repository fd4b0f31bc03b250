import type { Ledger } from './ledger.ts'

/** One row of `outbox.delivery_status`. */
export interface StatusRow {
  event_id: string
  endpoint_id: string | null
  status: string
  held_because: string | null
  open: boolean
}

/** One receipt: a row of `outbox.attempt`. */
export interface Receipt {
  event_id: string
  endpoint_id: string | null
  attempt: number
  /** Milliseconds since 1970. */
  at: number
  kind: 'attempt' | 'close'
  outcome: string
  error_class: string | null
  resent: boolean | null
}

/** One dead letter that waits for a person. */
export interface Letter {
  event_id: string
  endpoint_id: string
  why: string
  error: string
}

/** What the views and counters say. */
export interface Views {
  /** `outbox.queue_health`. */
  open: number
  in_flight: number
  unrouted: number
  unroutable: number
  set_aside: number
  dead_letters: number
  /** `outbox.endpoint_status`. */
  endpoints: readonly { id: string; open: number; in_flight: number }[]
  /** The counter `deliveries` of all kinds by outcome: how many attempts ended so. */
  counted: Readonly<Record<string, number>>
  /** Gates and lanes whose counters differ from a count of their deliveries, as texts. */
  miscounted: readonly string[]
}

/** What the checker compares: the ledger, and what the database says. */
export interface Evidence {
  ledger: Ledger
  deliveries: readonly StatusRow[]
  receipts: readonly Receipt[]
  letters: readonly Letter[]
  views: Views
  /** The processes that ended by themselves, and how. */
  died: readonly string[]
}

/** A broken promise. */
export interface Violation {
  promise:
    | 'loss'
    | 'invention'
    | 'order'
    | 'duplicate'
    | 'lease'
    | 'letter'
    | 'stuck'
    | 'views'
    /** The only ones that may become right later: see judge(). */
    | 'counters'
    | 'process'
  what: string
}

/** Groups rows by the delivery to which they belong. */
export function byDelivery<T extends { event_id: string; endpoint_id: string | null }>(
  rows: readonly T[],
): Map<string, T[]> {
  return Map.groupBy(rows, (row) => `${row.event_id} ${row.endpoint_id}`)
}
