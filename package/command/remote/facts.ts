/** A job of pg_cron with its last start. */
export interface JobState {
  name: string
  active: boolean
  status: string | null
  started_at: string | null
  message: string | null
}

/** Equal responses that pg_net got in the last five minutes. */
export interface KickResponses {
  status: number | null
  /** The code of a problem of a function, such as `invalid_kick`. */
  code: string | null
  error: string | null
  responses: number
  last_at: string
  /** Where a function of the platform ran; missing in an older database. */
  region?: string | null
}

/** A test event with its attempts. */
export interface TestEvent {
  published_at: string
  attempts: {
    at: string
    outcome: string
    status: number | null
    error: string | null
    duration_ms: number | null
  }[]
}

/** The result of the SQL function `check_installation`. */
export interface Facts {
  /** The clock of the database. */
  at: string
  postgres: string
  version: string
  modules: string[]
  /** By the name of each module; missing in a database before it recorded them. */
  module_versions?: Record<string, string>
  contracts: ContractRange
  configured: { functions_url: string | null; stored: number; readable: number }
  /** Null without pg_cron. */
  jobs: JobState[] | null
  last_tick_at: string | null
  /** Null without pg_net. */
  responses: KickResponses[] | null
  /** The live runs by their kind, `edge` or `worker`. */
  runs: Record<string, number>
  queue: Record<string, number | string | null>
  problems: string[]
  /** Limits of the database that are near; missing in a database before it told them. */
  warnings?: string[]
  test: TestEvent | null
}

/** The contracts that one side supports. */
export interface ContractRange {
  oldest: number
  newest: number
}
