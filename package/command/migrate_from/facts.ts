/** A Database Webhook, as read.sql returns it. */
export interface Webhook {
  /** The oid of the trigger. */
  id: number
  /** Changes with every change of the trigger. */
  version: string
  schema: string
  table: string
  name: string
  /** Without a query and a password. */
  url: string | null
  has_query: boolean
  method: string | null
  /** The names of the headers, without content-type. */
  headers: string[]
  /** The names of the parameters of the query. */
  params: string[]
  timeout_ms: number
  events: string[]
  for_each_row: boolean
  /** Whether it is an AFTER trigger. */
  after: boolean
  /** Of UPDATE OF; empty without it. */
  columns: string[]
  /** The SQL of WHEN. */
  condition: string | null
  /** O: enabled, D: disabled, A and R: depends on session_replication_role. */
  enabled: string
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
  configured: boolean
  /** The timeout of a new endpoint. */
  timeout_ms: number
  watches: {
    schema: string
    table: string
    watch: { type: string; org_id?: string; named?: string[] }
    operations: string[]
  }[]
  endpoints: { id: string; url: string; patterns: string[] }[]
  /** By the id of a webhook: why its URL cannot be the URL of an endpoint. */
  url_problems: Record<string, string>
  /** By the id of a webhook: the headers that an endpoint cannot have, with the reason of each. */
  header_problems: Record<string, Record<string, string>>
}
