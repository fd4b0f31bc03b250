/** A repeated call that must give deliveries back, beside a session that holds their gate. */

import { expect } from '@std/expect'
import { expectExactCounters } from './_support/checks.ts'
import { cross } from './_support/crossing_calls.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { dispatch } from './_support/dispatch.ts'
import { publishOne } from './_support/publish.ts'

let db: OutboxDatabase
let one: Session
let other: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  one = await db.open()
  other = await db.open()
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

const lockGate = 'select outbox.lock_gates(array[$1::uuid])'
const lockDelivery = `
  update outbox.delivery d set due_at = d.due_at where d.event_id = $1 and d.endpoint_id = $2`

Deno.test('a repeated call that must give back waits for the gate, and has changed no delivery yet', async () => {
  const [row] = await one.sql`
    select outbox.create_endpoint('https://example.com/hook') ->> 'id' as id`
  const endpoint: string = row?.id
  const event = await publishOne(one.sql)
  const run = crypto.randomUUID()
  await dispatch(one.sql, { run, seq: 1 })
  expect((await dispatch(one.sql, { run, seq: 2, limit: 1 })).deliveries).toMatchObject([{ event }])
  await db.admin`
    update vault.secrets v set secret = ${btoa('x'.repeat(64))}
    from outbox.endpoint_secret s where s.endpoint_id = ${endpoint} and v.id = s.vault_id`
  const repeated = await cross(db, {
    one,
    other,
    first: [lockGate, [endpoint]],
    second: [
      `select outbox.dispatch($1, 2, p_limit => 1, p_kind => 'worker') ->> 'deliveries' as deliveries`,
      [run],
    ],
    meanwhile: async () => {
      await one.sql.unsafe(lockDelivery, [event, endpoint])
    },
  })
  expect(repeated).toEqual({ deliveries: '[]' })
  await expectExactCounters(db.admin)
})
