/** A run that dies with a message in hand: WhatsApp gets it once, wherever the run was. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { type HeldLock, holdLock } from '../_support/blocked.ts'
import { retryAtOnce } from '../_support/first_try.ts'
import { patienceMs } from '../_support/outhook.ts'
import { type Org, startWhatsapp, type TestWhatsapp } from '../_support/whatsapp.ts'

let wa: TestWhatsapp

Deno.test.beforeAll(async () => {
  wa = await startWhatsapp()
})
Deno.test.afterAll(async () => {
  await wa?.stop()
})

/** Shortens the lease of a channel to so much and 5 s, and its retries to nothing. */
async function shorten(org: Org, timeoutMs: number): Promise<void> {
  const { sql } = wa.outhook
  await sql`
    update outbox.endpoint set timeout_ms = ${timeoutMs}, retry = ${sql.json(retryAtOnce)}
    where id = ${wa.channels[org]}`
}

/** Gives the next attempts all the time that they need on a busy machine. */
async function lengthen(org: Org): Promise<void> {
  await wa.outhook.sql`
    update outbox.endpoint set timeout_ms = 60000 where id = ${wa.channels[org]}`
}

/** How long an attempt of unknown outcome waits for a callback. */
async function setStale(seconds: number): Promise<void> {
  await wa.outhook.sql`
    update outbox.failure_rule set min_delay_s = ${seconds}
    where kind = 'whatsapp' and code = 'lease_expired'`
}

/** The attempts of a message: `FAILED lease_expired`, `SUCCESS`. */
async function attempts(org: Org, id: string): Promise<string[]> {
  const { body } = await wa.call(org, `GET /outbound/messages/${id}`)
  return body.attempts.map(({ status, errorCode }: Record<string, string>) =>
    [status, errorCode].filter(Boolean).join(' ')
  )
}

/** Waits for a condition, with the tick that pg_cron 1.4 begins at its first whole minute alone. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  const ticked = async (): Promise<boolean> => {
    await wa.outhook.sql`select outbox.tick()`
    return await condition()
  }
  expect(await waitUntil(ticked, { timeoutMs: patienceMs, everyMs: 250 })).toBe(true)
}

/** Resolves once no delivery of the message is open, so that nothing more can be sent. */
async function closed(id: string): Promise<void> {
  await until(async () => {
    const [row] = await wa.outhook.sql`
      select count(*)::int as open from outbox.delivery d
      join outbox.outbound_message m on m.event_id = d.event_id where m.id = ${id}::bigint`
    return row?.open === 0
  })
}

Deno.test('a message whose run is killed between claim and send is sent once', async () => {
  await shorten('org-a', 500)
  await setStale(0)
  // dispatch reads the secrets last, when the delivery is claimed.
  const secrets = await holdLock(wa.outhook.admin, 'lock table outbox.endpoint_secret')
  const to = wa.somebody()
  const id = await wa.create('org-a', to)
  await secrets.waiter()
  wa.outhook.stack.functions.kill('deliver')
  await secrets.release()
  await lengthen('org-a')
  await until(async () => (await attempts('org-a', id)).length === 2)
  await wa.settled('org-a', id, 'SENT')
  expect(await attempts('org-a', id)).toEqual(['FAILED lease_expired', 'SUCCESS'])
  await closed(id)
  expect(await wa.takenFor(to)).toHaveLength(1)
})

Deno.test('a message whose answer dies with its run is sent once: a callback names it', async () => {
  await shorten('org-b', 8_000)
  await setStale(600)
  const gate = `select from outbox.gate where endpoint_id = '${wa.channels['org-b']}' for update`
  const held = Promise.withResolvers<HeldLock>()
  // With its gate held, the result gets as far as the database and no further.
  wa.graph.setTurn(() => {
    held.resolve(holdLock(wa.outhook.admin, gate))
    return { kind: 'delay', ms: 500 }
  })
  const to = wa.somebody()
  const id = await wa.create('org-b', to)
  const lock = await held.promise
  const waiting = await lock.waiter()
  wa.outhook.stack.functions.kill('deliver')
  await wa.outhook.admin`select pg_terminate_backend(${waiting})`
  await lock.release()
  wa.graph.setTurn(() => ({ kind: 'take' }))
  const [taken] = await wa.takenFor(to)
  if (taken === undefined) throw new Error('nothing was taken')
  expect(await wa.graph.report(taken, 'delivered')).toMatchObject({ body: { applied: 1 } })
  expect(await wa.settled('org-b', id, 'DELIVERED'))
    .toMatchObject({ providerMessageId: taken.wamid })
  // Its lease still stands: when that ends, the claim finds that there is nothing to send.
  await closed(id)
  expect(await wa.takenFor(to)).toHaveLength(1)
  expect(await attempts('org-b', id)).toEqual(['SUCCESS'])
})

Deno.test('a message whose run is killed while WhatsApp works waits for a callback', async () => {
  await shorten('org-c', 5_000)
  await setStale(600)
  wa.graph.setTurn(() => {
    wa.outhook.stack.functions.kill('deliver')
    return { kind: 'lose' }
  })
  const to = wa.somebody()
  const id = await wa.create('org-c', to)
  const [taken] = await wa.takenFor(to)
  if (taken === undefined) throw new Error('nothing was taken')
  wa.graph.setTurn(() => ({ kind: 'take' }))
  await until(async () => (await attempts('org-c', id))[0] === 'FAILED lease_expired')
  expect(await attempts('org-c', id)).toHaveLength(1)
  expect(await wa.graph.report(taken, 'sent')).toMatchObject({ body: { applied: 1 } })
  expect(await wa.settled('org-c', id, 'SENT')).toMatchObject({ providerMessageId: taken.wamid })
  await closed(id)
  expect(await wa.takenFor(to)).toHaveLength(1)
})
