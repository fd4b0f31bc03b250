/** A result that the database refuses is set aside after three attempts, visibly, until retry_now(). */

import { expect } from '@std/expect'
import { expectExactCounters } from './_support/checks.ts'
import { db, sql, timePasses, useOneSession } from './_support/one_session.ts'
import { drain, type Report, report, Run } from './_support/dispatch.ts'
import { addEndpoints, type EndpointOptions } from './_support/endpoints.ts'
import { publishMany, publishOne } from './_support/publish.ts'
import { allow, refuse } from './_support/refuse.ts'

useOneSession()

const constraint = 'new row for relation'

/** Refuses each row in attempt with that response, as an operator's own constraint may. */
async function refusePoison(): Promise<AsyncDisposable> {
  await sql`alter table outbox.attempt
    add constraint t_poison check (response is distinct from 'POISON') not valid`
  return {
    [Symbol.asyncDispose]: async () => {
      await sql`alter table outbox.attempt drop constraint if exists t_poison`
    },
  }
}

/** Delivers to two endpoints with these options, one of which answers POISON; counts the requests. */
async function deliverBeside(
  bad: string,
  outcome: 'delivered' | 'failed',
  rounds: number,
): Promise<Map<string, number>> {
  const run = new Run(sql)
  const sent = new Map<string, number>()
  let results: (Report & { response?: string })[] = []
  for (let round = 0; round < rounds; round++) {
    const { deliveries } = await run.call(results, 400)
    for (const { endpoint } of deliveries) sent.set(endpoint, (sent.get(endpoint) ?? 0) + 1)
    results = deliveries.map((delivery) =>
      delivery.endpoint === bad
        ? { ...report(delivery, outcome), response: 'POISON' }
        : report(delivery)
    )
    await timePasses(30)
  }
  await run.call(results)
  return sent
}

async function add(options: Partial<EndpointOptions> = {}): Promise<[string, string]> {
  const [bad = ''] = await addEndpoints(sql, { count: 1, maxInFlight: 1000, ...options })
  const [good = ''] = await addEndpoints(sql, { count: 1, maxInFlight: 1000, ...options })
  return [good, bad]
}

for (const ordering of ['none', 'partition'] as const) {
  Deno.test(`a response that a constraint refuses costs its own delivery alone, ordering ${ordering}`, async () => {
    const [good, bad] = await add({ ordering })
    await using _poison = await refusePoison()
    await publishMany(sql, 'thing.done', 49)
    const rounds = ordering === 'none' ? 8 : 200
    const sent = await deliverBeside(bad, 'delivered', rounds)
    expect(sent.get(good)).toBe(49)
    // Each of the other's was sent three times, then no more.
    expect(sent.get(bad)).toBe(3 * 49)
    const aside = await sql`
      select s.status, s.held_because, s.next_attempt_at, s.attempt, count(*)::integer as n
      from outbox.delivery_status s
      where s.endpoint_id = ${bad} and s.open group by 1, 2, 3, 4`
    expect([...aside]).toMatchObject([{
      status: 'held',
      held_because: expect.stringMatching(/^set aside: 23514 new row .*t_poison/),
      next_attempt_at: null,
      attempt: 3,
      n: 49,
    }])
    const [health] = await sql`select set_aside::integer as n, set_aside_error as error
      from outbox.queue_health`
    expect(health).toMatchObject({ n: 49, error: expect.stringContaining(`23514 ${constraint}`) })
    const status = await sql`select set_aside::integer as n from outbox.endpoint_status
      where id in (${bad}, ${good}) order by set_aside`
    expect([...status]).toEqual([{ n: 0 }, { n: 49 }])
    expect((await new Run(sql).call([], 400)).deliveries).toEqual([])
    await expectExactCounters(db.admin)

    await sql`alter table outbox.attempt drop constraint t_poison`
    await sql`select outbox.retry_now(s.event_id, s.endpoint_id)
      from outbox.delivery_status s where s.open`
    expect(await drain(sql)).toBe(49)
    const [after] = await sql`select (select count(*)::integer from outbox.delivery) as open,
      (select count(*)::integer from outbox.refusal) as refusals,
      (select count(*)::integer from outbox.attempt where outcome = 'delivered') as delivered`
    expect(after).toEqual({ open: 0, refusals: 0, delivered: 98 })
    await expectExactCounters(db.admin)
  })
}

for (const table of ['attempt', 'dead_letter', 'delivery', 'gate', 'lane']) {
  const operation = table === 'delivery'
    ? 'delete'
    : table === 'attempt' || table === 'dead_letter'
    ? 'insert'
    : 'update'
  Deno.test(`a delivery whose ${table} cannot be written is not sent without end`, async () => {
    const [good, bad] = await add()
    await sql`update outbox.endpoint set retry = jsonb_set(retry, '{max_retries}', '0')`
    await publishMany(sql, 'thing.done', 5)
    const run = new Run(sql)
    await run.call([], 0)
    await refuse(sql, { table, operation, endpoint: bad })
    try {
      const sent = await deliverBeside(bad, 'failed', 40)
      expect(sent.get(good)).toBe(5)
      expect(sent.get(bad) ?? 0).toBeLessThanOrEqual(15)
      expect((await new Run(sql).call([], 400)).deliveries).toEqual([])
      // The views show the reason.
      const [shown] = await sql`
        select coalesce(s.set_aside_error, s.reason) as why from outbox.endpoint_status s
        where s.id = ${bad}`
      expect(shown?.why).toContain('P0001 no row of this endpoint')
    } finally {
      await allow(sql)
    }
  })
}

Deno.test('a result that cannot be read affects only its own delivery', async () => {
  await addEndpoints(sql, { count: 1, maxInFlight: 1000 })
  await publishMany(sql, 'thing.done', 6)
  const run = crypto.randomUUID()
  const call = async (seq: number, results: unknown[]): Promise<Record<string, unknown>> => {
    // SAFETY: the test sends an invalid result on purpose.
    const json = sql.json(results as never)
    const [row] = await sql`select outbox.dispatch(${run}, ${seq}, ${json}, 10, 'worker') as answer`
    return row?.answer
  }
  const first = await call(1, [])
  // SAFETY: dispatch() returns its deliveries so.
  const deliveries = first.deliveries as Report[]
  const results = deliveries.map(({ event, endpoint, attempt }) => ({
    event,
    endpoint,
    attempt,
    outcome: 'delivered',
    status: 200,
  }))
  const bad: unknown[] = [
    { ...results[0], status: 'abc' },
    { ...results[1], duration_ms: 1e20 },
    { ...results[2], lossy: 'perhaps' },
    { event: 'no event' },
    'nothing',
  ]
  const answer = await call(2, [...bad, ...results.slice(3)])
  expect(answer).toMatchObject({ applied: 3, stale: 0 })
  expect(answer.error).toMatchObject({ results: expect.stringContaining('22') })
  const [left] = await sql`
    select count(*)::integer as n, count(d.leased_until)::integer as leased from outbox.delivery d`
  expect(left).toEqual({ n: 3, leased: 0 })
  await expectExactCounters(db.admin)
})

Deno.test('a temporary error sets nothing aside: the whole call is repeated', async () => {
  const [good, bad] = await add()
  await publishMany(sql, 'thing.done', 3)
  const run = new Run(sql)
  const { deliveries } = await run.call([], 10)
  await sql`
    create function public.busy() returns trigger language plpgsql as $$
    begin
      raise exception using errcode = (select code from public.passing), message = 'it passes';
    end $$`
  await sql`create table public.passing as select '40P01'::text as code`
  await sql`create trigger busy before insert on outbox.attempt for each row
    when (new.endpoint_id = ${sql.unsafe(`'${bad}'`)}) execute function public.busy()`
  try {
    for (const code of ['40P01', '40001', '55P03', '57014', '53100', '25006']) {
      await sql`update public.passing set code = ${code} where true`
      const results = deliveries.map((delivery) => report(delivery))
      await expect(run.call(results)).rejects.toThrow('it passes')
      expect(await sql`select from outbox.refusal`).toHaveLength(0)
    }
  } finally {
    await sql`drop trigger busy on outbox.attempt`
    await sql`drop function public.busy()`
    await sql`drop table public.passing`
  }
  expect((await run.call(deliveries.map((delivery) => report(delivery)))).applied).toBe(6)
  expect(good).not.toBe(bad)
})

Deno.test('retry_now() creates a delivery that the database refused, after the cause is removed', async () => {
  const [good, bad] = await add()
  await refuse(sql, { table: 'delivery', operation: 'insert', endpoint: bad })
  const event = await publishOne(sql)
  const run = new Run(sql)
  try {
    for (let call = 1; call <= 3; call++) await run.call()
    const rows = await sql`
      select s.endpoint_id, s.status, s.held_because from outbox.delivery_status s
      where s.event_id = ${event} order by s.endpoint_id = ${bad}`
    expect([...rows]).toEqual([
      { endpoint_id: good, status: 'pending', held_because: null },
      {
        endpoint_id: bad,
        status: 'held',
        held_because: 'set aside: P0001 no row of this endpoint',
      },
    ])
    expect(await sql`select from outbox.unrouted`).toHaveLength(0)
    await expect(sql`select outbox.retry_now(${event}, ${bad})`.execute()).rejects
      .toThrow('no row of this endpoint')
    const [listed] = await sql`
      select outbox.list_deliveries('default', 'held', ${bad}) -> 'data' as data`
    expect(listed?.data).toMatchObject([{ eventId: event, status: 'held' }])
  } finally {
    await allow(sql)
  }
  await sql`select outbox.act_on_delivery('default', ${event}, ${bad}, 'retry')`
  expect(await drain(sql)).toBe(2)
  expect(await sql`select from outbox.refusal`).toHaveLength(0)
  await expectExactCounters(db.admin)
})
