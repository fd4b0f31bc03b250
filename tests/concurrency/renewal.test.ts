/** A renewal that has to wait for its gates is judged by the time at which it has them. */

import { expect } from '@std/expect'
import type { Sql } from 'postgres'
import { expectWaitsFor } from './_support/checks.ts'
import { startOutbox } from './_support/database.ts'
import { report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'

async function setClock(sql: Sql, seconds: number): Promise<void> {
  await sql`
    insert into outbox.test_clock (at)
    values ('2026-03-01 12:00:00+00'::timestamptz + ${`${seconds} s`}::interval)
    on conflict (only_row) do update set at = excluded.at`
}

Deno.test('renew_leases() leaves a lane alone whose lease has ended while its dispatch waited for a gate', async () => {
  await using db = await startOutbox()
  const [asking, person, holder] = [await db.open(), await db.open(), await db.open()]
  await setClock(person.sql, 0)
  await addEndpoints(person.sql, { count: 2, patterns: ['none'], ordering: 'partition' })
  const gates = await db.admin<{ endpoint: string }[]>`
    select endpoint_id as endpoint from outbox.gate order by id`
  const [first = '', second = ''] = gates.map(({ endpoint }) => endpoint)
  await person.sql`
    select outbox.publish_many((
      select jsonb_agg(jsonb_build_object('type', 'thing.done', 'payload', '{}'::jsonb,
        'partition_key', 'k', 'endpoint_id', ${second}::text))
      from generate_series(1, 4)))`
  const run = new Run(asking.sql)
  await run.call()
  const { deliveries: [one, , three, four] } = await run.call([], 100)
  if (!one || !three || !four) throw new Error('not all were claimed')

  await setClock(person.sql, 19.9)
  await holder.sql`begin`
  await holder.sql`select outbox.lock_gates(array[${first}]::uuid[])`
  // The first report touches the gate that is held; the lane's own is locked behind it.
  const asked = run.call([{ ...report(one, 'delivered'), endpoint: first }, report(four, 'renew')])
  await expectWaitsFor(db.admin, asking, holder)
  await setClock(person.sql, 20.1)
  await person.sql`select outbox.cancel_delivery(${three.event}, ${second})`
  await holder.sql`commit`
  expect((await asked).renewed).toBe(null)
})
