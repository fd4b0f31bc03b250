/**
 * What a watched table costs its writer: inserts without a trigger, with outbox.publish_row(), with
 * outbox.publish_rows(), and with a trigger that does what a Database Webhook's does (net.http_post of
 * the row), in transactions of 100 rows and in statements of 100. Rounds alternate; medians.
 *
 *   deno run -A tests/bench/watch.ts [--rows 10000] [--rounds 5]
 */

import { parseArgs } from 'node:util'
import postgres, { type Sql, type TransactionSql } from 'postgres'
import { print } from '../../supabase/local/print.ts'
import { type Stack, startStack } from '../../supabase/local/stack.ts'
import { testFolder } from '../_support/folder.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
  },
})
const rows = Number(values.rows)
const PER_TRANSACTION = 100

/** Each way to watch, as what sets it up on a fresh table. */
const ways: Record<string, string> = {
  'no trigger': 'select',
  'publish_row()': `select outbox.watch_table('public.watched')`,
  'publish_rows()': `select outbox.watch_table('public.watched', p_per_statement => true)`,
  'Database Webhook': `create trigger hook after insert on public.watched for each row
    execute function public.http_request()`,
}

async function prepare(sql: Sql): Promise<void> {
  await sql.unsafe(`
    create table public.watched (id bigint primary key, customer text, total numeric, note text);
    create function public.http_request() returns trigger language plpgsql as $$
    begin
      perform net.http_post('http://127.0.0.1:9/', jsonb_build_object('type', tg_op,
        'table', tg_table_name, 'schema', tg_table_schema, 'record', new, 'old_record', null));
      return new;
    end $$;`)
}

async function insertSome(
  sql: TransactionSql,
  insert: string,
  at: number,
  bulk: boolean,
): Promise<void> {
  const each = Array.from({ length: PER_TRANSACTION }, (_, n) => [at + n, at + n])
  const spans = bulk ? [[at, at + PER_TRANSACTION - 1]] : each
  await Promise.all(spans.map((span) => sql.unsafe(insert, span, { prepare: true })))
}

/** Milliseconds for all rows: one statement a row, or one for 100 rows. */
async function round(sql: Sql, setUp: string, bulk: boolean): Promise<number> {
  await sql.unsafe(`
    drop trigger if exists hook on public.watched;
    select outbox.unwatch_table('public.watched');
    truncate public.watched, outbox.unrouted, outbox.event, net.http_request_queue; ${setUp}`)
  const insert = `insert into public.watched
    select n, 'customer-7', 49.90, repeat('x', 300) from generate_series($1::bigint, $2::bigint) n`
  const began = performance.now()
  for (let at = 0; at < rows; at += PER_TRANSACTION) {
    await sql.begin((sql) => insertSome(sql, insert, at, bulk))
  }
  return performance.now() - began
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN
}

async function compare(stack: Stack): Promise<void> {
  const sql = postgres(stack.adminDbUrl, { max: 1, onnotice: () => {} })
  await prepare(sql)
  for (const bulk of [false, true]) {
    print(bulk ? 'statements of 100 rows' : 'statements of one row, 100 a transaction')
    const times = new Map(Object.keys(ways).map((way) => [way, [] as number[]]))
    for (let n = 0; n < Number(values.rounds); n++) {
      for (const [way, setUp] of Object.entries(ways)) {
        times.get(way)?.push(await round(sql, setUp, bulk))
      }
    }
    const plain = median(times.get('no trigger') ?? [])
    for (const [way, all] of times) {
      const added = ((median(all) - plain) / rows) * 1000
      print(`  ${way.padEnd(18)} ${Math.round(median(all))} ms, ${added.toFixed(1)} µs a row added`)
    }
  }
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
