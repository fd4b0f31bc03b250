/**
 * What publishing over HTTP costs: requests a second of POST /events, against the least that such a
 * function could do, an RPC that inserts one row into a plain table, as one more route of the same app.
 * The app is a process of its own that callers reach directly; its RPCs go through the gateway. And
 * events a second of POST /events/batch, with four callers. Rounds alternate; medians.
 *
 *   deno run -A tests/bench/api.ts [--seconds 5] [--rounds 5] [--callers 16]
 */

import { parseArgs } from 'node:util'
import { Agent } from 'undici'
import postgres, { type Sql } from 'postgres'
import { print } from '../../supabase/local/print.ts'
import { type Stack, startStack } from '../../supabase/local/stack.ts'
import { testFolder } from '../_support/folder.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '5' },
    callers: { type: 'string', default: '16' },
  },
})
const PER_BATCH = 1000
const payload = { data: 'x'.repeat(380) }
const one = JSON.stringify({ type: 'order.paid', payload })
const batch = JSON.stringify({
  events: Array.from({ length: PER_BATCH }, () => ({ type: 'order.paid', payload })),
})

type Way = { name: string; path: string; body: string; callers: number; per: number }
const ways: Way[] = [
  {
    name: 'one row',
    path: '/api/v1/bench-row',
    body: one,
    callers: Number(values.callers),
    per: 1,
  },
  { name: 'publish', path: '/api/v1/events', body: one, callers: Number(values.callers), per: 1 },
  { name: 'batch', path: '/api/v1/events/batch', body: batch, callers: 4, per: PER_BATCH },
]

async function prepare(sql: Sql): Promise<void> {
  await sql.unsafe(`
    select outbox.set_setting('api.requests_per_second', '100000'),
      outbox.set_setting('api.burst', '100000'), outbox.set_setting('worker.enabled', 'false');
    create table outbox.bench_row (id bigint generated always as identity primary key, body text);
    create function outbox.insert_bench_row(p_body text) returns jsonb
    language plpgsql security definer set search_path = '' as $$
    begin
      insert into outbox.bench_row (body) values (p_body);
      return '{}';
    end $$;
    grant execute on function outbox.insert_bench_row(text) to service_role;`)
}

/** Requests answered a second over so many seconds. */
async function round(agent: Agent, origin: string, key: string, way: Way): Promise<number> {
  const began = performance.now()
  const until = began + Number(values.seconds) * 1000
  let done = 0
  async function call(): Promise<void> {
    while (performance.now() < until) {
      const { statusCode, body } = await agent.request({
        origin,
        path: way.path,
        method: 'POST',
        headers: { apikey: key, 'content-type': 'application/json' },
        body: way.body,
      })
      const text = await body.text()
      if (statusCode !== 202) throw new Error(`${way.name}: ${statusCode} ${text}`)
      done++
    }
  }
  await Promise.all(Array.from({ length: way.callers }, call))
  return done * way.per / (performance.now() - began) * 1000
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN
}

/** Starts the app; gives its origin and a way to end it. */
async function startApp(stack: Stack): Promise<{ origin: string; stop(): void }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      'run',
      '-A',
      '--cached-only',
      import.meta.resolve('./api/app.ts'),
      stack.apiUrl,
      stack.keys.secretKey,
    ],
    stdout: 'piped',
  }).spawn()
  const { value } = await child.stdout.getReader().read()
  const port = new TextDecoder().decode(value).trim()
  return { origin: `http://127.0.0.1:${port}`, stop: () => child.kill() }
}

async function compare(stack: Stack): Promise<void> {
  const sql = postgres(stack.adminDbUrl, { max: 1, onnotice: () => {} })
  const key = stack.keys.secretKey
  await prepare(sql)
  const child = await startApp(stack)
  const agent = new Agent({ connections: 32 })
  const rates = new Map(ways.map(({ name }) => [name, [] as number[]]))
  for (let n = 0; n <= Number(values.rounds); n++) {
    for (const way of ways) {
      const rate = await round(agent, child.origin, key, way)
      // The first round warms up.
      if (n > 0) rates.get(way.name)?.push(rate)
    }
    await sql`truncate outbox.event, outbox.unrouted, outbox.bench_row`
  }
  const [row = NaN, publish = NaN, many = NaN] = [...rates.values()].map(median)
  print(`one-row RPC  ${Math.round(row)} requests/s`)
  print(`publish      ${Math.round(publish)} requests/s, ${(publish / row).toFixed(2)} of it`)
  print(`batch        ${Math.round(many)} events/s`)
  child.stop()
  await agent.close()
  await sql.end()
}

const dataDir = testFolder()
const stack = await startStack({ dataDir, ports: 'free', functions: [] })
try {
  await compare(stack)
} finally {
  await stack.stop()
  await Deno.remove(dataDir, { recursive: true })
}
