/** Two people who change settings at the same time make no combination that each alone would be refused. */

import { expect } from '@std/expect'
import { expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'

let db: OutboxDatabase
let first: Session
let second: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  first = await db.open()
  second = await db.open()
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

const changes: [how: string, batch: string, most: string][] = [
  [
    'set_setting()',
    `select outbox.set_setting('worker.batch_size', '300')`,
    `select outbox.set_setting('worker.max_deliveries', '200')`,
  ],
  [
    'a plain UPDATE',
    `update outbox.setting set value = '300' where name = 'worker.batch_size'`,
    `update outbox.setting set value = '200' where name = 'worker.max_deliveries'`,
  ],
]

for (const [how, batch, most] of changes) {
  Deno.test(`${how} waits for another's change of a setting, and is refused what does not go with it`, async () => {
    await db.admin`
      update outbox.setting set value = case name when 'worker.batch_size' then '100' else '2000' end::jsonb
      where name in ('worker.batch_size', 'worker.max_deliveries')`
    await first.sql`begin`
    await first.sql.unsafe(batch)
    const waiting = second.sql.unsafe(most).then(() => 'accepted', (error) => error)
    await expectWaitsFor(db.admin, second, first)
    await first.sql`commit`
    expect(await waiting).toMatchObject({ code: 'OH005', detail: 'worker.max_deliveries' })
    const rows = await db.admin<{ name: string; value: number }[]>`
      select name, value from outbox.setting
      where name in ('worker.batch_size', 'worker.max_deliveries') order by name`
    expect([...rows]).toEqual([
      { name: 'worker.batch_size', value: 300 },
      { name: 'worker.max_deliveries', value: 2000 },
    ])
  })
}
