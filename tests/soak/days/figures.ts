/** The figures of a simulated day, which the checker judges. They are written and read as JSON. */

/** A table with its indexes, partitions summed up. Sizes in bytes. */
export interface TableSize {
  heap: number
  indexes: number
  dead: number
  /** 0: the table has none. */
  partitions: number
  rows: number
  /** For how many days its rows are stored, by the settings; null: for as long as they are needed. */
  stored_days: number | null
}

/** What a night left undone. */
export interface Behind {
  /** Events that no run has routed. */
  unrouted: number
  /** For how long the first due endpoint has waited, in seconds. */
  overdue_s: number
  /** Steps of the cleanup that have not finished. */
  cleanup: string[]
  /** Whether old partitions are left to drop, or partitions could not be made or dropped. */
  partitions: string[]
  /** For how many full days partitions exist. */
  days_ahead: number
  in_default: number
  /** What the periodic work left out. */
  refused: string[]
  /** Counts that are not added up. */
  unfolded: number
}

/** How retries kept to the schedule: see retries.sql. */
export interface Retries {
  checked: number
  off: number
  early: number
  late: number
  unplanned: number
  /** How many had to wait for a breaker. */
  held: number
  worst_s: number
}

/** Deliveries since the beginning, by the model's own ledger. */
export interface Ledger {
  due: number
  accepted: number
  dead: number
  discarded: number
  open: number
}

export interface DayFigures {
  /** From 1. */
  day: number
  tables: Record<string, TableSize>
  /** The most lanes that there were at once: at night they are gone. */
  most_lanes: number
  behind: Behind
  retries: Retries
  ledger: Ledger
  /** The counters of the metrics: how many were delivered. */
  counted: number
  /** Gates and lanes whose counts differ from a recount: see recount.sql. */
  miscounted: string[]
  /** Errors in responses of dispatch(), ignored results, and warnings. */
  problems: string[]
  /** The slowest tick, in ms of this machine. */
  tick_ms: number
}
