/** A Database Webhook, as read.sql returns it. */
export interface Webhook {
  /** The oid of the trigger. */
  id: number
  /** Changes with every change of the trigger. */
  version: string
  schema: string
  table: string
  name: string
  /** The host, and the name of an edge function; a path or a query may be a secret. */
  url: string | null
  has_query: boolean
  method: string | null
  /** Null: the argument is no number. */
  timeout_ms: number | null
  events: string[]
  for_each_row: boolean
  /** Whether it is an AFTER trigger. */
  after: boolean
  /** Of UPDATE OF; empty without it. */
  columns: string[]
  /** Whether it has WHEN. */
  has_condition: boolean
  /** O: enabled, D: disabled, A and R: depends on session_replication_role. */
  enabled: string
  of_view: boolean
  partitioned: boolean
  /** Whether the role may change the table. */
  owned: boolean
  /** The endpoint that has replaced it; null if none has. */
  endpoint_id: string | null
}

/** The result of read.sql. */
export interface Found {
  role: string
  /** Whether the schema outbox has the module watch. */
  can_watch: boolean
  webhooks: Webhook[]
  other_triggers: string[]
}

/** The result of outbox.sql. */
export interface OutboxFound {
  /** Whether a worker runs, or the database calls the function. */
  delivers: boolean
  /** The timeout of a new endpoint. */
  timeout_ms: number
  watches: {
    schema: string
    table: string
    /** Null: its triggers are not those of watch_table(). */
    watch: { type: string; org_id?: string; named?: string[] } | null
    operations: string[]
    /** Of its triggers. */
    versions: string[]
    /** Why its changes are not published; null if they are. */
    problem: string | null
  }[]
  endpoints: { id: string; url: string; patterns: string[] }[]
  /** The ids of replaced webhooks whose endpoint still gets events. */
  replaced: number[]
  /** By the id of a webhook: the names of its headers, without content-type. */
  headers: Record<string, string[]>
  /** By the id of a webhook: the names of its parameters. */
  params: Record<string, string[]>
  /** By the id of a webhook: why its URL cannot be the URL of an endpoint. */
  url_problems: Record<string, string>
  /** By the id of a webhook: the headers that an endpoint cannot have, with the reason of each. */
  header_problems: Record<string, Record<string, string>>
}
