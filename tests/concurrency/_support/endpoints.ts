import type { Sql } from 'postgres'

/** How the endpoints of a test differ from the default. */
export interface EndpointOptions {
  count: number
  org?: string
  patterns?: string[]
  ordering?: 'none' | 'partition' | 'endpoint'
  maxInFlight?: number
  quantum?: number
  /** Seconds between retries, of which there may be 50. */
  retryAfter?: number
  /** Consecutive failures that open the breaker; without it there is none. */
  breakerThreshold?: number
}

/**
 * Makes endpoints with their gates and subscriptions in one statement, without secrets, as
 * create_endpoint() makes them one by one. Returns their ids in ascending order.
 */
export async function addEndpoints(sql: Sql, options: EndpointOptions): Promise<string[]> {
  const {
    count,
    org = 'default',
    patterns = ['*'],
    ordering = 'none',
    maxInFlight = 50,
    quantum = 25,
    retryAfter = 0,
    breakerThreshold = null,
  } = options
  const retry = { strategy: 'fixed', base_delay: retryAfter, max_retries: 50 }
  const rows = await sql<{ id: string }[]>`
    with made as (
      insert into outbox.endpoint (org_id, url, ordering, max_in_flight, quantum, retry,
        breaker_enabled, breaker_threshold, breaker_open_ms, created_at, updated_at)
      select ${org}, 'https://example.com/hook', ${ordering}, ${maxInFlight}, ${quantum}, ${
    sql.json(retry)
  },
        ${breakerThreshold !== null}, ${breakerThreshold ?? 5}, 1000, outbox.clock(), outbox.clock()
      from generate_series(1, ${count}::integer)
      returning id
    ), wanted as (
      insert into outbox.subscription (org_id, pattern, endpoint_id, created_at)
      select ${org}, p, m.id, outbox.clock() from made m, unnest(${patterns}::text[]) p
    ), gates as materialized (
      select m.id, outbox.add_gate(m.id, ${ordering}) from made m
    )
    select g.id from gates g order by g.id`
  return rows.map((row) => row.id)
}
