/** What is lost on the way is made up for: kicks, and runs that die with deliveries in hand. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { type HeldLock, holdLock } from '../_support/blocked.ts'
import { createFirstTry, shortLease } from '../_support/first_try.ts'
import { startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { untilTickMs } from '../_support/patience.ts'

let outhook: TestOuthook

const firstTry = createFirstTry()

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({
    only: ['deliver'],
    cronAlone: true,
    also: { dying: firstTry.behaviour },
  })
  await noteTicks()
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

/** The webhook-id and x-attempt of each request of an event, once there are `count`. */
async function attempts(id: string, count: number): Promise<(string | undefined)[][]> {
  const requests = await outhook.requestsOf(id, count, untilTickMs)
  return requests.map(({ headers }) => [headers['webhook-id'], headers['x-attempt']])
}

Deno.test('an event whose run is killed after the answer, before the result, comes again', async () => {
  const endpoint = await outhook.createEndpoint('/dying/answered', {
    p_event_types: ['dying.answered'],
    ...shortLease,
  })
  // With its gate held, the result gets as far as the database and no further.
  const held = Promise.withResolvers<HeldLock>()
  firstTry.act = async (): Promise<void> => {
    const lock = `select from outbox.gate where endpoint_id = '${endpoint.id}' for update`
    held.resolve(await holdLock(outhook.admin, lock))
  }
  const id = await outhook.publish('dying.answered')
  const gate = await held.promise
  const waiting = await gate.waiter()
  const pid = outhook.stack.functions.pid('deliver')
  outhook.stack.functions.kill('deliver')
  await outhook.admin`select pg_terminate_backend(${waiting})`
  await gate.release()

  expect(await attempts(id, 2)).toEqual([[id, '1'], [id, '2']])
  expect(await outhook.outcomesOf(id)).toEqual(['1 lease_expired', '2 delivered'])
  expect(outhook.stack.functions.pid('deliver')).not.toBe(pid)
})

Deno.test('an event whose run is killed between claim and send arrives once', async () => {
  await outhook.createEndpoint('/dying/claimed', {
    p_event_types: ['dying.claimed'],
    ...shortLease,
  })
  firstTry.act = (): void => {}
  // dispatch reads the secrets last, when the delivery is claimed.
  const secrets = await holdLock(outhook.admin, 'lock table outbox.endpoint_secret')
  const id = await outhook.publish('dying.claimed')
  await secrets.waiter()
  outhook.stack.functions.kill('deliver')
  await secrets.release()

  expect(await attempts(id, 1)).toEqual([[id, '2']])
  expect(await outhook.outcomesOf(id)).toEqual(['1 lease_expired', '2 delivered'])
  expect(await attempts(id, 1)).toHaveLength(1)
})

Deno.test('an event whose run is killed while the receiver works comes again', async () => {
  await outhook.createEndpoint('/dying/sending', {
    p_event_types: ['dying.sending'],
    ...shortLease,
  })
  firstTry.act = (): void => outhook.stack.functions.kill('deliver')
  const id = await outhook.publish('dying.sending')
  expect(await attempts(id, 2)).toEqual([[id, '1'], [id, '2']])
  expect(await outhook.outcomesOf(id)).toEqual(['1 lease_expired', '2 delivered'])
})

/** Resolves once no run is awake, which would deliver without any kick. */
async function asleep(): Promise<void> {
  const none = async (): Promise<boolean> => {
    const [row] = await outhook.sql`
      select count(*) from outbox.run where ended_at is null and polled_at > now() - interval '1 s'`
    return row?.count === '0'
  }
  expect(await waitUntil(none, { timeoutMs: untilTickMs })).toBe(true)
}

/** Has each tick note when it ran and whether it kicked. */
async function noteTicks(): Promise<void> {
  const { admin } = outhook
  const [tick] =
    await admin`select pg_get_functiondef('outbox.tick(timestamptz)'::regprocedure) as text`
  await admin.unsafe(`
    create table public.ticked (began timestamptz, kicked boolean);
    grant all on public.ticked to postgres;
    ${tick?.text.replace('outbox.tick(', 'public.real_tick(')};
    alter function public.real_tick(timestamptz) owner to postgres;
    create or replace function outbox.tick(p_until timestamptz default 'infinity') returns jsonb
    language plpgsql security definer set search_path = '' as $$
    declare
      v_began timestamptz := clock_timestamp();
      v_result jsonb := public.real_tick(p_until);
    begin
      insert into public.ticked values (v_began, (v_result ->> 'kicked')::boolean);
      return v_result;
    end $$`)
}

/**
 * How many ticks after `since` did not kick although the last kick was longer ago than kick.quiet_ms,
 * until one did. Throws if none did.
 */
async function idleTicks(since: string): Promise<number> {
  const [row] = await outhook.admin`
    with later as (select * from public.ticked t where t.began > ${since}::timestamptz),
      kick as (select min(l.began) as at from later l where l.kicked)
    select k.at, count(l)::int as n from kick k
    left join later l on l.began < k.at
      and l.began > ${since}::timestamptz + outbox.setting_int('kick.quiet_ms') * interval '1 ms'
    group by k.at`
  if (row?.at === null) throw new Error('No tick has kicked')
  return row?.n
}

async function databaseTime(): Promise<string> {
  const [row] = await outhook.admin`select clock_timestamp()::text as now`
  return row?.now
}

Deno.test('an event whose kick is lost is delivered by the tick', async () => {
  await outhook.createEndpoint('/hooks/lost', { p_event_types: ['kick.lost'] })
  await asleep()
  const id = await outhook.admin.begin(async (tx): Promise<string> => {
    const [row] = await tx`select outbox.publish('kick.lost', '{}') as id`
    const lost = await tx`delete from net.http_request_queue returning id`
    expect(lost).toHaveLength(1)
    return row?.id
  })
  const publishedAt = await databaseTime()
  await outhook.requestsOf(id, 1, untilTickMs)
  expect(await idleTicks(publishedAt)).toBe(0)
})

Deno.test('an event arrives through pg_cron with kick.on_commit off', async () => {
  await outhook.createEndpoint('/hooks/ticked', { p_event_types: ['kick.off'] })
  await outhook.client.rpc('set_setting', { p_name: 'kick.on_commit', p_value: false })
  await asleep()
  const id = await outhook.admin.begin(async (tx): Promise<string> => {
    const [row] = await tx`select outbox.publish('kick.off', '{}') as id`
    expect(await tx`select from net.http_request_queue`).toHaveLength(0)
    return row?.id
  })
  const publishedAt = await databaseTime()
  await outhook.requestsOf(id, 1, untilTickMs)
  expect(await idleTicks(publishedAt)).toBe(0)
  expect(await outhook.outcomesOf(id)).toEqual(['1 delivered'])
})
