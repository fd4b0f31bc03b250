/** An error that passes by itself elsewhere, and one that comes with the commit, may stay for one endpoint. */

import { expect } from '@std/expect'
import { expectExactCounters } from './_support/checks.ts'
import { db, sql, timePasses, useOneSession } from './_support/one_session.ts'
import { drain, type Report, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany } from './_support/publish.ts'
import { patienceMs } from '../_support/patience.ts'

useOneSession()

type Trigger = { table: string; event: string; timing: 'before' | 'deferred'; body: string }

/** Runs `body` for each row of one endpoint, or once the transaction commits. */
async function disturb(
  bad: string,
  { table, event, timing, body }: Trigger,
): Promise<AsyncDisposable> {
  await sql.unsafe(`create function public.disturb() returns trigger language plpgsql as $$
    begin ${body} return new; end $$`)
  await sql.unsafe(`create ${timing === 'deferred' ? 'constraint' : ''} trigger disturb
    ${timing === 'deferred' ? 'after' : 'before'} ${event} on outbox.${table}
    ${timing === 'deferred' ? 'deferrable initially deferred' : ''}
    for each row when (new.endpoint_id = '${bad}') execute function public.disturb()`)
  return {
    [Symbol.asyncDispose]: async () => {
      await sql`drop function public.disturb() cascade`
    },
  }
}

async function open(endpoints: string[]): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::integer as n from outbox.delivery d
    where d.endpoint_id = any (${endpoints}::uuid[])`
  return row?.n ?? NaN
}

/** The same, once the cause is gone and a person has said "retry now". */
async function expectNothingLeft(bad: string): Promise<void> {
  await timePasses(600)
  await sql`
    select outbox.retry_now(s.event_id, s.endpoint_id) from outbox.delivery_status s
    where s.open and s.status <> 'processing'`
  for (let round = 0; round < 5; round++) {
    await drain(sql)
    await timePasses(600)
  }
  expect(await open([bad])).toBe(0)
  await expectExactCounters(db.admin)
}

for (
  const { table, event } of [
    { table: 'attempt', event: 'insert' },
    { table: 'delivery', event: 'update' },
    { table: 'delivery', event: 'insert' },
    { table: 'gate', event: 'update' },
  ]
) {
  Deno.test(`a deferred constraint on ${event} of ${table} costs its own endpoint alone`, async () => {
    const [bad = ''] = await addEndpoints(sql, { count: 1, maxInFlight: 1000 })
    const others = await addEndpoints(sql, { count: 2, maxInFlight: 1000 })
    {
      await using _ = await disturb(bad, {
        table,
        event,
        timing: 'deferred',
        body: "raise exception 'refused at the commit';",
      })
      await publishMany(sql, 'thing.done', 6)
      const run = new Run(sql)
      let results: Report[] = []
      for (let round = 0; round < 12; round++) {
        const { deliveries } = await run.call(results, 100)
        results = deliveries.map((delivery) => report(delivery))
        await timePasses(7)
      }
      await run.call(results)
      expect(await open(others)).toBe(0)
    }
    await expectNothingLeft(bad)
  })
}

for (const code of ['40P01', '40001', '55P03', '57014', '08001']) {
  Deno.test(`a lost lease that cannot be recorded for ever because of ${code} costs its own endpoint alone`, async () => {
    const [bad = ''] = await addEndpoints(sql, { count: 1, maxInFlight: 1000 })
    const others = await addEndpoints(sql, { count: 2, maxInFlight: 1000 })
    await publishMany(sql, 'thing.before', 2)
    // A run that holds all of it and dies.
    expect((await new Run(sql).call([], 100)).deliveries).toHaveLength(6)
    {
      await using _ = await disturb(bad, {
        table: 'attempt',
        event: 'insert',
        timing: 'before',
        body: `raise exception using errcode = '${code}', message = 'it does not pass';`,
      })
      await publishMany(sql, 'thing.done', 4)
      await timePasses(600)
      const run = new Run(sql)
      let results: Report[] = []
      for (let round = 0; round < 30; round++) {
        const { deliveries } = await run.call(results, 100)
        results = deliveries.filter(({ endpoint }) => endpoint !== bad)
          .map((delivery) => report(delivery))
        await timePasses(10)
      }
      await run.call(results)
      expect(await open(others)).toBe(0)
      const shown = await sql<{ n: number }[]>`
        select 1 as n from outbox.endpoint_status s
        where s.id = ${bad} and (s.set_aside_error like ${`${code} %`} or s.reason like ${`%${code} %`})`
      expect(shown).toHaveLength(1)
    }
    await expectNothingLeft(bad)
  })
}

Deno.test('recording the lost leases of one endpoint takes all the time, and all others are served', async () => {
  const [bad = ''] = await addEndpoints(sql, { count: 1, maxInFlight: 1000 })
  const others = await addEndpoints(sql, { count: 2, maxInFlight: 1000 })
  await publishMany(sql, 'thing.before', 2)
  expect((await new Run(sql).call([], 100)).deliveries).toHaveLength(6)
  {
    await using _ = await disturb(bad, {
      table: 'attempt',
      event: 'insert',
      timing: 'before',
      body: 'perform pg_sleep(60);',
    })
    await timePasses(600)
    await sql`set statement_timeout = '2s'`
    const run = new Run(sql)
    let results: Report[] = []
    const deadline = performance.now() + patienceMs
    while ((await open(others) > 0 || results.length > 0) && performance.now() < deadline) {
      const { deliveries } = await run.call(results, 100)
      results = deliveries.map((delivery) => report(delivery))
      await timePasses(1)
    }
    await sql`reset statement_timeout`
    expect(await open(others)).toBe(0)
  }
  await expectNothingLeft(bad)
})
