/** What the noisy organisation has in the database: its endpoints and filters, at its limits, and what is left of its work. */

import type { Sql } from 'postgres'
import { pause } from '../engine/pause.ts'
import type { Part } from './parts.ts'

/** The largest share of a claim that a token may give an endpoint: the setting limit.token_share. */
const MOST_OF_TOKEN = 100

/** Filters of the greatest weight that are false for every element: as many as an endpoint may have. */
export const heavyFilters: readonly string[] = [0, 1, 2, 3].map((n) =>
  `$.items[*] ? (@.a == "x${n}" || @.b == "x" || @.c == "x" || @.d == "x")`
)

/** How many endpoints the organisation has in a part. */
export function endpointsOf({ most }: Part, all: number): number {
  return Math.min(all, most ?? all)
}

/**
 * Creates the endpoints, each with the largest share that a token may set, and every third one ordered by
 * partition key: then each event has a lane of its own. Two more may be created: the channel of its messages, and
 * the endpoint of the loop `create`.
 */
export async function addNoisyEndpoints(
  sql: Sql,
  origin: string,
  part: Part,
  all: number,
): Promise<void> {
  const count = endpointsOf(part, all)
  if (count === 0) return
  await sql`select outbox.set_org_setting('noisy', 'limit.endpoints', ${
    count + 2
  }::integer::text::jsonb)`
  for (let n = 0; n < count; n++) {
    const url = `${origin}/${part.responses[n % part.responses.length]}/${n}`
    const types = Array.from({ length: 5 }, (_, t) => `noise.${n % 2}.${t}`)
    const [row] = await sql<{ id: string }[]>`
      select outbox.create_endpoint(${url}, ${types}, 'noisy',
        p_ordering => ${n % 3 === 2 ? 'partition' : 'none'},
        p_max_in_flight => ${MOST_OF_TOKEN}, p_quantum => ${MOST_OF_TOKEN}) ->> 'id' as id`
    if (row === undefined) throw new Error('the endpoint was not created')
    await subscribe(sql, row.id, n % 4 < part.filtered)
  }
}

async function subscribe(sql: Sql, id: string, isFiltered: boolean): Promise<void> {
  if (!isFiltered) {
    await sql`select outbox.subscribe(${id}, '{noise.*}')`
    return
  }
  for (const [at, filter] of heavyFilters.entries()) {
    const type = ['*', 'noise.*', 'noise.big', 'noise.small'][at] ?? '*'
    await sql`select outbox.subscribe(${id}, ${[type]}, ${filter})`
  }
}

/** Removes all work of the noisy organisation. The worker still reports its results, so a statement may deadlock. */
export async function removeNoise(sql: Sql): Promise<void> {
  const ofNoisy = `outbox.gate g where g.org_id = 'noisy'`
  const statements = [
    `select outbox.delete_channel(c.org_id, c.endpoint_id) from outbox.whatsapp_channel c
     join outbox.endpoint e on e.id = c.endpoint_id
     where c.org_id = 'noisy' and e.status <> 'deleted'`,
    `update outbox.replay_job set status = 'cancelled' where org_id = 'noisy'`,
    `update outbox.endpoint set status = 'deleted', is_purged = true where org_id = 'noisy'`,
    `delete from outbox.subscription where org_id = 'noisy'`,
    `delete from outbox.unrouted where org_id = 'noisy'`,
    `delete from outbox.waiting_part where org_id = 'noisy'`,
    `delete from outbox.delivery d where d.endpoint_id in (select g.endpoint_id from ${ofNoisy})`,
    `delete from outbox.dead_letter d where d.endpoint_id in (
       select e.id from outbox.endpoint e where e.org_id = 'noisy')`,
    `delete from outbox.lane l where l.gate_id in (select g.id from ${ofNoisy})`,
    `delete from outbox.gate g where g.org_id = 'noisy'`,
    'vacuum outbox.delivery, outbox.unrouted, outbox.gate, outbox.lane',
  ]
  for (const statement of statements) {
    for (let left = 20;; left--) {
      try {
        await sql.unsafe(statement)
        break
      } catch (error) {
        if (left === 0) throw error
        await pause(100)
      }
    }
  }
}

/** What the organisation has published, and what of it is not done. */
export async function describeBacklog(sql: Sql): Promise<string> {
  const [row] = await sql`
    select (select count(*)::integer from outbox.unrouted) as unrouted,
      (select count(*)::integer from outbox.delivery) as deliveries,
      (select count(*)::integer from outbox.event e where e.org_id = 'noisy') as events`
  return `${row?.events} events published, ${row?.unrouted} not routed, ${row?.deliveries} deliveries open`
}
