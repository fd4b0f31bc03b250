/** Updates of WhatsApp about numbers and accounts do not wait for a person or a run; they are applied later. */

import { expect } from '@std/expect'
import type { Sql } from 'postgres'
import { expectExactCounters } from './_support/checks.ts'
import { cross, passing } from './_support/crossing_calls.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { Run } from './_support/dispatch.ts'
import {
  addChannels,
  addMessage,
  APP,
  type Message,
  refused,
  say,
  statusOf,
  take,
  taken,
  wait,
} from './_support/messages.ts'

const LOCKED = '131031'
const APP_TOO_FAST = '4'
const NUMBER_TOO_FAST = '130429'

let db: OutboxDatabase
let one: Session
let other: Session
let run: Run
let channel: string
let second: string
let message: Message

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  one = await db.open()
  other = await db.open()
  // A callback waits a second at most; a busy machine may take longer to come to it.
  await db.admin`alter function outbox.apply_updates set lock_timeout = '2min'`
})
Deno.test.beforeEach(async () => {
  await db.reset()
  await db.admin`delete from vault.secrets where true`
  const ids = await addChannels(db.admin, ['100000000000001', '100000000000002'])
  channel = ids[0] ?? ''
  second = ids[1] ?? ''
  message = await addMessage(db.admin, { channel })
  run = new Run(other.sql)
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

/** Runs `deed` in the other session, which waits for nothing, while one holds rows; lets these go again. */
async function beside(holding: string, value: string, deed: () => Promise<unknown>): Promise<void> {
  await one.sql`begin`
  await one.sql.unsafe(holding, [value])
  await other.sql`set lock_timeout = '1ms'`
  try {
    await deed()
  } finally {
    await other.sql`reset lock_timeout`
    await one.sql`rollback`
  }
}

const holdEndpoint = 'select from outbox.endpoint e where e.id = $1 for no key update'
const holdGate = 'select outbox.lock_gates(array[$1::uuid])'

async function endpointStatusOf(sql: Sql, id: string): Promise<string> {
  const [row] = await sql`select e.status from outbox.endpoint e where e.id = ${id}`
  return row?.status
}

/** Whether a channel is told to be quiet. */
async function isSlowed(id: string): Promise<boolean> {
  const [row] = await db.admin`
    select g.not_before > outbox.clock() as slowed from outbox.gate g where g.endpoint_id = ${id}`
  return row?.slowed
}

/** The verdicts of all updates so far. */
async function verdicts(): Promise<string[]> {
  const rows = await db.admin`select u.update_status from outbox.whatsapp_update u order by u.id`
  return rows.map(({ update_status }) => update_status)
}

Deno.test('an answer that holds a channel waits for no person who has changed it; the next one holds it', async () => {
  const delivery = await take(run)
  await beside(holdEndpoint, channel, async () => {
    expect(await run.call([refused(delivery, LOCKED)])).toMatchObject({ applied: 1, error: null })
  })
  expect(await endpointStatusOf(db.admin, channel)).toBe('enabled')
  await addMessage(db.admin, { to: '+12025550112', channel })
  await run.call([refused(await take(run), LOCKED)])
  expect(await endpointStatusOf(db.admin, channel)).toBe('paused')
})

Deno.test('an answer that holds a channel waits for nobody who has changed its holds; the next one holds it', async () => {
  await db.admin`
    insert into outbox.channel_hold (channel_id, cause, held, why, decided_at)
    values (${channel}, 'account', false, 'reinstated', outbox.clock() - interval '1 hour')`
  const delivery = await take(run)
  await one.sql`begin`
  await one.sql`select from outbox.channel_hold h where h.channel_id = ${channel} for update`
  await other.sql`set statement_timeout = '2s'`
  expect(await run.call([refused(delivery, LOCKED)])).toMatchObject({ applied: 1, error: null })
  await other.sql`reset statement_timeout`
  await one.sql`rollback`
  expect(await endpointStatusOf(db.admin, channel)).toBe('enabled')
  await addMessage(db.admin, { to: '+12025550112', channel })
  await run.call([refused(await take(run), LOCKED)])
  expect(await endpointStatusOf(db.admin, channel)).toBe('paused')
})

Deno.test('a status that holds a channel waits for no person who has changed it; the next one holds it', async () => {
  await run.call([taken(await take(run))])
  await beside(holdEndpoint, channel, () => say(other.sql, message, 'failed', { code: LOCKED }))
  expect(await verdicts()).toEqual(['applied'])
  expect(await endpointStatusOf(db.admin, channel)).toBe('enabled')
  const next = await addMessage(db.admin, { to: '+12025550112', channel })
  await run.call([taken(await take(run))])
  await say(other.sql, next, 'failed', { code: LOCKED })
  expect(await endpointStatusOf(db.admin, channel)).toBe('paused')
})

Deno.test('hold_channel() is refused at once while another session holds the endpoint', async () => {
  await beside(holdEndpoint, channel, async () => {
    // Not 'canceling statement due to lock timeout': it does not begin to wait.
    await expect(
      other
        .sql`select outbox.hold_channel(${channel}, 'account', true, 'locked', outbox.clock(), null, outbox.clock())`,
    ).rejects.toMatchObject({
      code: '55P03',
      message: 'could not obtain lock on row in relation "endpoint"',
    })
  })
  expect(await db.admin`select from outbox.channel_hold`).toHaveLength(0)
})

Deno.test('lift_expired_holds() passes over a channel that a person has changed, and lifts its hold after that', async () => {
  await db.admin`
    select outbox.hold_channel(${channel}, 'account', true, 'restricted', outbox.clock(),
      outbox.clock() + interval '1 minute', outbox.clock())`
  expect(await endpointStatusOf(db.admin, channel)).toBe('paused')
  await wait(db.admin, '2 minutes')
  const outcomes = await passing({
    one,
    other,
    holding: [holdEndpoint, [channel]],
    call: ['select outbox.lift_expired_holds(outbox.clock()) as n'],
  })
  expect(outcomes).toEqual([{ n: 0 }, { n: 1 }])
  expect(await endpointStatusOf(db.admin, channel)).toBe('enabled')
})

Deno.test('an answer that slows down an app waits for no gate of its other numbers; the next one slows them', async () => {
  const delivery = await take(run)
  await beside(holdGate, second, async () => {
    expect(await run.call([refused(delivery, APP_TOO_FAST)])).toMatchObject({ applied: 1 })
  })
  expect([await isSlowed(channel), await isSlowed(second)]).toEqual([true, false])
  await wait(db.admin, '1 hour')
  await run.call([refused(await take(run), APP_TOO_FAST)])
  expect([await isSlowed(channel), await isSlowed(second)]).toEqual([true, true])
  await expectExactCounters(db.admin)
})

Deno.test('a status that slows down a number waits for no run that holds its gate; the next one slows it', async () => {
  await run.call([taken(await take(run))])
  await beside(
    holdGate,
    channel,
    () => say(other.sql, message, 'failed', { code: NUMBER_TOO_FAST }),
  )
  expect(await verdicts()).toEqual(['applied'])
  expect(await isSlowed(channel)).toBe(false)
  const next = await addMessage(db.admin, { to: '+12025550112', channel })
  await run.call([taken(await take(run))])
  await say(other.sql, next, 'failed', { code: NUMBER_TOO_FAST })
  expect(await isSlowed(channel)).toBe(true)
})

Deno.test('save_display_numbers() waits for nobody who has changed a channel; the next callback shows the number', async () => {
  await run.call([taken(await take(run))])
  const known = async (): Promise<unknown> => {
    const [row] = await db.admin`
      select c.display_digits as digits from outbox.whatsapp_channel c where c.endpoint_id = ${channel}`
    return row?.digits
  }
  const display = '12025550100'
  await beside(
    'select from outbox.whatsapp_channel c where c.endpoint_id = $1 for no key update',
    channel,
    () => say(other.sql, message, 'sent', { display }),
  )
  expect(await verdicts()).toEqual(['applied'])
  expect(await known()).toBe(null)
  await say(other.sql, message, 'delivered', { display })
  expect(await known()).toBe(display)
})

/** Says that a message was delivered before its answer has brought its id, so that this waits. */
async function sayTooEarly(): Promise<void> {
  await db.admin`
    select outbox.receive_callbacks(${APP}, null, ${
    db.admin.json([{
      key: 'early',
      kind: 'status',
      field: 'messages',
      waba_id: '200000000000001',
      phone_number_id: '100000000000001',
      wamid: `wamid.${message.event}`,
      status: 'delivered',
      at: Date.parse('2026-03-01T12:00:01Z') / 1000,
      data: {},
    }])
  })`
  expect(await verdicts()).toEqual(['kept'])
}

const holdUpdates = 'select from outbox.whatsapp_update u where u.key = $1 for update'

Deno.test('apply_callbacks() leaves updates alone that another sweep is applying', async () => {
  await take(run)
  await sayTooEarly()
  await wait(db.admin, '10 s')
  const outcomes = await passing({
    one,
    other,
    holding: ['select outbox.apply_callbacks()'],
    call: ['select outbox.apply_callbacks() as n'],
  })
  expect(outcomes).toEqual([{ n: 0 }, { n: 1 }])
})

Deno.test('an answer waits for no sweep that holds what was said of its message, which the sweep then applies', async () => {
  const delivery = await take(run)
  await sayTooEarly()
  await beside(holdUpdates, 'early', async () => {
    expect(await run.call([taken(delivery)])).toMatchObject({ applied: 1, error: null })
  })
  expect(await verdicts()).toEqual(['kept'])
  await wait(db.admin, '10 s')
  await other.sql`select outbox.apply_callbacks()`
  expect(await verdicts()).toEqual(['applied'])
  expect(await statusOf(db.admin, message)).toBe('DELIVERED')
})

/** The secrets that an app has, the newest first, and how many of these Vault has. */
async function expectSecrets(app: string): Promise<void> {
  const [row] = await db.admin`
    select array_agg(v.decrypted_secret order by v.id = a.secret_vault_id desc) as secrets
    from outbox.whatsapp_app a
    join vault.decrypted_secrets v on v.id in (a.secret_vault_id, a.old_secret_vault_id)
    where a.app_id = ${app}`
  expect(row).toEqual({ secrets: ['third', 'second'] })
  const left = await db.admin`
    select v.decrypted_secret as secret from vault.decrypted_secrets v
    where v.decrypted_secret in ('second', 'third') or (v.decrypted_secret = 'secret' and ${app} = ${APP})`
  expect(left.map(({ secret }) => secret).sort()).toEqual(['second', 'third'])
}

const put = 'select outbox.put_whatsapp_app($1, $2)'

Deno.test('put_whatsapp_app() waits for whoever holds the app, and replaces the secret that this has given it', async () => {
  await cross(db, {
    one,
    other,
    first: ['select from outbox.whatsapp_app a where a.app_id = $1 for update', [APP]],
    second: [put, [APP, 'third']],
    meanwhile: async () => {
      await one.sql.unsafe(put, [APP, 'second'])
    },
  })
  await expectSecrets(APP)
})

Deno.test('put_whatsapp_app() of a new app twice at a time keeps both secrets, and Vault holds no third', async () => {
  const app = '900000000000002'
  await cross(db, { one, other, first: [put, [app, 'second']], second: [put, [app, 'third']] })
  await expectSecrets(app)
})

Deno.test('forget_app_secrets() passes over an app whose secret a person is replacing', async () => {
  await db.admin`select outbox.put_whatsapp_app(${APP}, 'second')`
  await wait(db.admin, '2 days')
  const outcomes = await passing({
    one,
    other,
    holding: ['select outbox.put_whatsapp_app($1)', [APP]],
    call: ['select outbox.forget_app_secrets(outbox.clock()) as n'],
  })
  expect(outcomes).toEqual([{ n: 0 }, { n: 1 }])
})

/** Holds a template by a callback of that time, or lifts the hold. */
const notice = (key: string, status: string, at: number): string =>
  `select outbox.receive_callbacks('${APP}', null, '[{"key": "${key}", "kind": "template",
    "field": "message_template_status_update", "waba_id": "200000000000001", "status": "${status}", "at": ${at},
    "data": {"message_template_name": "appointment_reminder", "message_template_language": "fr"}}]')`

/** How often the trail says that the template is held. */
async function holds(): Promise<number> {
  return (await db.admin`
    select from outbox.audit_event a where a.entity_type = 'TEMPLATE' and a.action = 'HELD'`).length
}

const ELEVEN = Date.parse('2026-03-01T11:00:00Z') / 1000

Deno.test('a callback that holds a template waits for whoever holds its row, and audits no second hold', async () => {
  await db.admin.unsafe(notice('1', 'PAUSED', ELEVEN))
  await db.admin.unsafe(notice('2', 'APPROVED', ELEVEN + 1))
  const before = await holds()
  await cross(db, {
    one,
    other,
    first: ['select from outbox.template_hold for update'],
    second: [notice('4', 'DISABLED', ELEVEN + 3)],
    meanwhile: async () => {
      await one.sql.unsafe(notice('3', 'PAUSED', ELEVEN + 2))
    },
  })
  expect(await verdicts()).toEqual(Array(4).fill('applied'))
  expect(await holds() - before).toBe(1)
})

Deno.test('two callbacks at a time that hold a template for the first time audit one hold', async () => {
  await cross(db, {
    one,
    other,
    first: [notice('1', 'PAUSED', ELEVEN)],
    second: [notice('2', 'DISABLED', ELEVEN + 1)],
  })
  expect(await verdicts()).toEqual(['applied', 'applied'])
  expect(await holds()).toBe(1)
})
