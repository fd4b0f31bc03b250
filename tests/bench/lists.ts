/**
 * How long the API takes for what the console lists and searches, among many events of one organisation: the
 * target is 100 ms for each. The events have a delivered attempt each; every 1000th has a type of its own.
 *
 *   deno run -A tests/bench/lists.ts [--events 1000000] [--rounds 20] [--data-dir <folder>]
 *
 * `--data-dir` keeps the filled database in this folder for the next run.
 */

import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import postgres, { type Sql } from 'postgres'
import { print } from '../../supabase/local/print.ts'
import { readFunctionConfigs } from '../../supabase/local/functions/mod.ts'
import { PROJECT_DIR, startStack } from '../../supabase/local/stack.ts'
import { testFolder } from '../_support/folder.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '20' },
    'data-dir': { type: 'string' },
  },
})
const events = Number(values.events)
const targetMs = 100

/** One event each 10 ms, up to now, in pieces, so that no statement takes long. */
async function fill(sql: Sql): Promise<string> {
  const [endpoint] = await sql`
    select outbox.create_endpoint('https://example.com/hooks', '{never.*}') ->> 'id' as id`
  const piece = 50_000
  for (let from = 0; from < events; from += piece) {
    const most = Math.min(piece, events - from)
    await sql`
      with made as (
        insert into outbox.event (id, org_id, type, body, correlation_id, created_at)
        select outbox.uuid_v7(t), 'default', case when n % 1000 = 0 then 'rare.made' else 'order.paid' end,
          '{"id": 1, "total": 49.90}', 'cart-' || n, t
        from generate_series(${from}::int, ${from + most - 1}::int) n
        cross join lateral (select now() - (${events} - n) * interval '10 ms' as t) at
        returning id, created_at)
      insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, status, duration_ms)
      select m.id, ${endpoint?.id}::uuid, 1, m.created_at, 'attempt', 'delivered', 200, 12 from made m`
  }
  await sql`vacuum (analyze) outbox.event`
  await sql`vacuum (analyze) outbox.attempt`
  return endpoint?.id
}

const functions = (await readFunctionConfigs(PROJECT_DIR)).filter(({ name }) => name === 'api')
const kept = values['data-dir']
const dataDir = kept === undefined ? testFolder() : resolve(kept)
const stack = await startStack({ dataDir, ports: 'free', fsync: false, functions, log: () => {} })
const sql = postgres(stack.dbUrl, { max: 2, onnotice: () => {} })
try {
  await sql`
    select outbox.set_setting('api.requests_per_second', '100000'),
      outbox.set_setting('api.burst', '100000')`
  const filledAt = performance.now()
  const [filled] = await sql`select id from outbox.endpoint where org_id = 'default'`
  const endpointId: string = filled?.id ?? await fill(sql)
  print(`${events} events in ${Math.round((performance.now() - filledAt) / 1000)} s`)
  const read = async (path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const response = await fetch(`${stack.apiUrl}/functions/v1/api/v1${path}`, {
      headers: { apikey: stack.keys.secretKey, 'content-type': 'application/json' },
      ...body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) },
    })
    const found = await response.json()
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(found)}`)
    return found
  }
  const { nextCursor } = await read('/events?limit=100')
  const hourAgo = encodeURIComponent(new Date(Date.now() - 3_600_000).toISOString())
  const now = encodeURIComponent(new Date().toISOString())
  const soon = encodeURIComponent(new Date(Date.now() + 3_600_000).toISOString())
  const middle = Math.floor(events / 2)
  const ways: [name: string, path: string, body?: unknown][] = [
    ['the newest events', '/events'],
    ['the next page', `/events?cursor=${nextCursor}`],
    ['events of an hour', `/events?from=${hourAgo}`],
    ['events of a type', '/events?type=order.paid'],
    ['events of a rare type', '/events?type=rare.made'],
    ['events of no such type', '/events?type=none.made'],
    ['events of a partition key', '/events?partitionKey=none'],
    ['search by a correlation id', `/search?correlationId=cart-${middle}`],
    ['search for what is not there', '/search?correlationId=nothing'],
    ['the newest deliveries', '/deliveries'],
    ['deliveries of an endpoint', `/deliveries?endpointId=${endpointId}`],
    ['delivered ones', '/deliveries?status=delivered'],
    ['dead ones, of which there is none', '/deliveries?status=dead_letter'],
    ['the backlog', '/deliveries?status=open'],
    ['retries of the next hour', `/deliveries?status=retrying&dueFrom=${now}&dueTo=${soon}`],
    ['the newest attempts', '/attempts'],
    ['attempts that failed, of which there is none', '/attempts?outcome=failed'],
    ['failing endpoints', '/endpoints?health=failing'],
    ['the overview of an hour', '/overview'],
    ['the overview of a day', '/overview?minutes=1440'],
    ['the overview of a week', '/overview?minutes=10080'],
    ['the statistics of the endpoint', `/endpoints/${endpointId}/stats`],
    ['a filter on recent events', '/filter-trials', { filter: '$.total > 40' }],
  ]
  for (const [name, path, body] of ways) {
    await read(path, body)
    const took: number[] = []
    for (let i = 0; i < Number(values.rounds); i++) {
      const before = performance.now()
      await read(path, body)
      took.push(performance.now() - before)
    }
    took.sort((a, b) => a - b)
    const [median, most] = [took[took.length >> 1] ?? 0, took.at(-1) ?? 0]
    const verdict = median <= targetMs ? '' : `  above ${targetMs} ms`
    print(
      `${median.toFixed(1).padStart(8)} ms, at most ${
        most.toFixed(1).padStart(7)
      } ms  ${name}${verdict}`,
    )
  }
} finally {
  await sql.end({ timeout: 1 })
  await stack.stop()
  if (kept === undefined) await Deno.remove(dataDir, { recursive: true })
}
