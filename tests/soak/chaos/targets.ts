import type { Sql } from 'postgres'
import type { Ledger } from './ledger.ts'
import { types } from './publishers.ts'
import { manners } from './receivers.ts'
import type { Server } from './server.ts'

const orderings: Readonly<Record<string, string>> = { ordered: 'partition', single: 'endpoint' }

/** Leases of 7 s, and retries and probes that come soon, so that much happens in a minute. */
const TIMEOUT_MS = 2_000
const retry = { strategy: 'fixed', base_delay: 0.5, max_retries: 50, jitter: true }

/** Creates an endpoint for each of these paths, behind `url`. The first word of a path is that of a receiver. */
export async function createTargets(
  server: Server,
  ledger: Ledger,
  url: string,
  names: readonly string[] = Object.keys(manners),
): Promise<void> {
  for (const name of names) {
    const began = Date.now()
    let id = ''
    await server.surely('an endpoint', async (sql) => id = await createTarget(sql, name, url))
    ledger.targets.push({
      name,
      id,
      ordered: orderingOf(name) !== 'none',
      wishes: [{ types, began, ended: Date.now(), certain: true }],
    })
  }
}

async function createTarget(sql: Sql, name: string, url: string): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    select outbox.create_endpoint(${`${url}/${name}`}, ${[...types]}::text[],
      p_timeout_ms => ${TIMEOUT_MS}, p_ordering => ${orderingOf(name)},
      p_retry => ${JSON.stringify(retry)}::text::jsonb) ->> 'id' as id`
  await sql`update outbox.endpoint set breaker_open_ms = 1000 where id = ${row?.id ?? null}`
  return row?.id ?? ''
}

function orderingOf(name: string): string {
  return orderings[name.split('/')[0] ?? ''] ?? 'none'
}
