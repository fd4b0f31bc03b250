/** A delivery whose lease takes too long costs others a few calls, and is then set aside. */

import { expect } from '@std/expect'
import { expectExactCounters } from './_support/checks.ts'
import { db, sql, useOneSession } from './_support/one_session.ts'
import { drain, type Report, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany, publishOne } from './_support/publish.ts'

useOneSession()

/** Each change of the delivery of `event` takes longer than a call may. */
async function slowDown(event: string): Promise<AsyncDisposable> {
  await sql.unsafe(`
    create function public.slow() returns trigger language plpgsql as $$
    begin
      perform pg_sleep(30);
      return new;
    end $$;
    create trigger slow before update on outbox.delivery for each row
    when (new.event_id = '${event}') execute function public.slow()`)
  await sql`select set_config('statement_timeout', '1500ms', false)`
  return {
    [Symbol.asyncDispose]: async () => {
      await sql`reset statement_timeout`
      await sql`drop function public.slow() cascade`
    },
  }
}

for (const ordering of ['none', 'partition'] as const) {
  Deno.test(`a delivery whose lease takes too long is set aside, and all others are sent, ordering ${ordering}`, async () => {
    const [slow = ''] = await addEndpoints(sql, { count: 1, patterns: ['slow', 'later'], ordering })
    await addEndpoints(sql, { count: 3, patterns: ['thing'] })
    const bad = await publishOne(sql, 'slow', 'k')
    await publishMany(sql, 'thing', 5)
    const run = new Run(sql)
    await run.call([], 0)
    let others = 0
    {
      await using _slow = await slowDown(bad)
      let results: Report[] = []
      for (let round = 0; round < 14; round++) {
        if (round === 1) await publishMany(sql, 'later', 5)
        const { deliveries } = await run.call(results, 100)
        others += deliveries.length
        results = deliveries.map((delivery) => report(delivery))
        await sql`update outbox.test_clock set at = at + interval '5 minutes' where only_row`
      }
      await run.call(results)
      expect(others).toBe(3 * 5 + 5)
      const open = await sql`
        select s.event_id, s.status, s.held_because from outbox.delivery_status s where s.open`
      expect([...open]).toEqual([{
        event_id: bad,
        status: 'held',
        held_because: 'set aside: 57014 canceling statement due to statement timeout',
      }])
      expect(await sql`select from outbox.endpoint_refusal`).toHaveLength(0)
      await expectExactCounters(db.admin)
    }
    await sql`select outbox.retry_now(${bad}, ${slow})`
    expect(await drain(sql)).toBe(1)
    await expectExactCounters(db.admin)
  })
}

Deno.test('where each lease is slow no delivery is taken for the cause, and all are sent', async () => {
  await addEndpoints(sql, { count: 1 })
  await publishMany(sql, 'thing.done', 8)
  const run = new Run(sql)
  await run.call([], 0)
  // Five of them fit into a call, eight do not.
  await sql.unsafe(`
    create function public.slow() returns trigger language plpgsql as $$
    begin
      perform pg_sleep(0.7);
      return new;
    end $$;
    create trigger slow before update on outbox.delivery for each row
    when (new.leased_until is not null) execute function public.slow()`)
  await sql`select set_config('statement_timeout', '5s', false)`
  try {
    const sent: number[] = []
    let results: Report[] = []
    for (let round = 0; round < 3; round++) {
      const { deliveries } = await run.call(results, 100)
      sent.push(deliveries.length)
      results = deliveries.map((delivery) => report(delivery))
      expect([...await sql`select from outbox.refusal`]).toEqual([])
      await sql`update outbox.test_clock set at = at + interval '5 minutes' where only_row`
    }
    await run.call(results, 0)
    expect(sent).toEqual([0, 3, 5])
    expect(await sql`select from outbox.endpoint_refusal`).toHaveLength(0)
    await expectExactCounters(db.admin)
  } finally {
    await sql`reset statement_timeout`
    await sql`drop function public.slow() cascade`
  }
})

/** Each such change of a lane takes so long; a call may take 1.5 s. */
async function slowDownLanes(condition: string, seconds = 30): Promise<AsyncDisposable> {
  await sql.unsafe(`
    create function public.slow() returns trigger language plpgsql as $$
    begin
      perform pg_sleep(${seconds});
      return new;
    end $$;
    create trigger slow before update on outbox.lane for each row
    when (${condition}) execute function public.slow()`)
  await sql`select set_config('statement_timeout', '1500ms', false)`
  return {
    [Symbol.asyncDispose]: async () => {
      await sql`reset statement_timeout`
      await sql`drop function public.slow() cascade`
    },
  }
}

async function turns(run: Run, count: number, pause = '5 minutes'): Promise<number> {
  let sent = 0
  let results: Report[] = []
  for (let turn = 0; turn < count; turn++) {
    const { deliveries } = await run.call(results, 100)
    sent += deliveries.length
    results = deliveries.map((delivery) => report(delivery))
    await sql`update outbox.test_clock set at = at + ${pause}::interval where only_row`
  }
  await run.call(results, 0)
  return sent
}

Deno.test('a lane whose change takes too long is left out, and the other keys of its endpoint are sent', async () => {
  await addEndpoints(sql, { count: 1, ordering: 'partition' })
  const bad = await publishOne(sql, 'thing', 'bad')
  await publishMany(sql, 'thing', 3)
  const run = new Run(sql)
  await run.call([], 0)
  const [lane] = await sql`select d.lane_id as id from outbox.delivery d where d.event_id = ${bad}`
  {
    await using _slow = await slowDownLanes(`new.id = ${lane?.id}`)
    expect(await turns(run, 4, '6 seconds')).toBe(3)
    expect([...await sql`select lane_id, sqlstate from outbox.lane_refusal`])
      .toEqual([{ lane_id: lane?.id, sqlstate: '57014' }])
    expect([...await sql`select from outbox.refusal`]).toEqual([])
  }
  expect(await turns(run, 2)).toBe(1)
  expect([...await sql`select from outbox.lane_refusal`]).toEqual([])
  await expectExactCounters(db.admin)
})

Deno.test('where each change of a lane is slow, no lane is taken for the cause', async () => {
  await addEndpoints(sql, { count: 1, ordering: 'partition' })
  for (const key of ['a', 'b', 'c', 'd']) await publishOne(sql, 'thing', key)
  const run = new Run(sql)
  await run.call([], 0)
  {
    await using _slow = await slowDownLanes('true', 0.8)
    await turns(run, 6, '20 seconds')
    expect([...await sql`select from outbox.lane_refusal`]).toEqual([])
    expect([...await sql`select sqlstate from outbox.endpoint_refusal`])
      .toEqual([{ sqlstate: '57014' }])
  }
  expect(await turns(run, 2)).toBe(4)
  expect([...await sql`select from outbox.endpoint_refusal`]).toEqual([])
  await expectExactCounters(db.admin)
})
