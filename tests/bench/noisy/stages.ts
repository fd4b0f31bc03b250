/**
 * Where an event of the quiet organisation waits: a trigger on the deliveries of its endpoint notes when the call
 * began that routed or claimed it, and when it did so. What is left until the arrival is the rest of the call, and
 * the worker.
 */

import type { Sql } from 'postgres'
import { percentile } from '../run/stats.ts'

/** An event and the times in ms since 1970 of its commit and of its arrival; null: it did not arrive. */
export type Seen = { id: string; committedAt: number; arrivedAt: number | null }

type Noted = {
  id: string
  callAt: number
  routedAt: number
  claimCallAt: number
  claimedAt: number
}

const stageNames = ['until the call', 'routing', 'until the claim', 'claiming', 'worker'] as const

/** Notes the times of all later events of one endpoint, and creates `bench.called()`. As the superuser. */
export async function noteStages(sql: Sql, endpointId: string): Promise<void> {
  await sql.unsafe(`
    create schema bench;
    create unlogged table bench.stage (
      event_id uuid not null, step text not null, call_at timestamptz not null, at timestamptz not null);
    create function bench.note_stage() returns trigger
    language plpgsql security definer set search_path = '' as $$
    begin
      insert into bench.stage
      values (new.event_id, tg_argv[0], statement_timestamp(), clock_timestamp());
      return null;
    end
    $$;
    create function bench.called(query text) returns text language sql as $$
      select coalesce(substring(query from '/rpc/([a-z_]+)'),
        substring(query from 'outbox"?[.]"?([a-z_]+)'), left(query, 30), '')
    $$;
    create trigger bench_routed after insert on outbox.delivery
    for each row when (new.endpoint_id = '${endpointId}')
    execute function bench.note_stage('routed');
    create trigger bench_claimed after update of leased_until on outbox.delivery
    for each row when (new.endpoint_id = '${endpointId}' and new.leased_until is not null)
    execute function bench.note_stage('claimed');`)
}

/** How long these events were in each stage, p50 and p99 in ms, as a line of words. */
export async function describeStages(sql: Sql, seen: readonly Seen[]): Promise<string> {
  const noted = await sql<Noted[]>`
    select r.event_id as id, extract(epoch from r.call_at)::float8 * 1000 as "callAt",
      extract(epoch from r.at)::float8 * 1000 as "routedAt",
      extract(epoch from c.call_at)::float8 * 1000 as "claimCallAt",
      extract(epoch from c.at)::float8 * 1000 as "claimedAt"
    from bench.stage r join bench.stage c on c.event_id = r.event_id and c.step = 'claimed'
    where r.step = 'routed'`
  const byId = new Map(noted.map((one) => [one.id, one]))
  const rows = seen.flatMap(({ id, committedAt, arrivedAt }) => {
    const one = byId.get(id)
    return one === undefined || arrivedAt === null ? [] : [[
      one.callAt - committedAt,
      one.routedAt - Math.max(one.callAt, committedAt),
      Math.max(0, one.claimCallAt - one.routedAt),
      one.claimedAt - Math.max(one.routedAt, one.claimCallAt),
      arrivedAt - one.claimedAt,
    ]]
  })
  const figures = stageNames.map((name, at) => {
    const times = rows.map((row) => row[at] ?? NaN)
    return `${name} ${percentile(times, 50).toFixed(0)}/${percentile(times, 99).toFixed(0)}`
  })
  await sql`truncate bench.stage`
  return `  p50/p99 ms: ${figures.join(', ')}`
}
