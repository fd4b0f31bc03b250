/** Callbacks in any order, in any batches, more than once, and side by side with the answers of the calls. */

import { expect } from '@std/expect'
import {
  answer,
  batchesOf,
  endingOf,
  endings,
  messagesUnderWay,
  receive,
  settle,
  type Told,
  type Update,
} from './_support/callbacks.ts'
import { deadlocks, expectExactCounters, expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { newSeed, Random } from './_support/random.ts'

const SESSIONS = 4
const MESSAGES = 300

let db: OutboxDatabase
let owner: Session
let sweeper: Session
let sessions: Session[]

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  owner = await db.open()
  sweeper = await db.open()
  sessions = await Promise.all(Array.from({ length: SESSIONS }, () => db.open()))
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db?.[Symbol.asyncDispose]()
})

Deno.test('receive_callbacks() ends in the same state whatever the order, the batches and the repeats', async () => {
  const seed = newSeed()
  const random = new Random(seed)
  const told = await messagesUnderWay(owner.sql, { count: MESSAGES, random })
  const late = told.filter(({ answer }) => answer.endsWith('late'))
  await answer(owner.sql, told.filter((one) => !late.includes(one)), 1001)
  const before = await deadlocks(db.admin)
  // Each session says all of it; the late answers and the sweep cross with what they say.
  let saying = true
  const said = Promise.all(sessions.map(async ({ sql }, index) => {
    for (const batch of batchesOf(told, new Random(seed + index + 1))) await receive(sql, batch)
  })).finally(() => saying = false)
  await Promise.all([said, answerBitByBit(late, random), sweepWhile(() => saying)])
    .catch((cause) => {
      throw new Error(`callbacks with seed ${seed} failed: ${cause.message}`, { cause })
    })
  await settle(owner.sql)
  const found = await endings(owner.sql)
  const wrong = told.map((one) => ({ one, found: found.get(one.id), expected: endingOf(one) }))
    .filter(({ found, expected }) => JSON.stringify(found) !== JSON.stringify(expected))
  expect({ seed, wrong }).toEqual({ seed, wrong: [] })
  await expectToldOnce(told)
  await expectExactCounters(db.admin)
  expect(await deadlocks(db.admin)).toBe(before)
})

/** Reports the late answers a few at a time, as a run does. */
async function answerBitByBit(late: Told[], random: Random): Promise<void> {
  const rest = random.shuffled(late)
  for (let seq = 2001; rest.length > 0; seq += 1) await answer(owner.sql, rest.splice(0, 10), seq)
}

async function sweepWhile(saying: () => boolean): Promise<void> {
  while (saying()) await sweeper.sql`select outbox.apply_callbacks(100)`
}

/** Each update is stored once, has its verdict, and was told of once if it was applied. */
async function expectToldOnce(told: Told[]): Promise<void> {
  const keys = new Set(told.flatMap(({ updates }) => updates.map(({ key }) => key))).size
  const [row] = await db.admin`
    select count(*)::integer as stored, count(*) filter (where u.update_status in ('stored', 'kept'))::integer as open,
      count(*) filter (where u.update_status = 'applied')::integer = (
        select count(distinct e.idempotency_key) from outbox.event e where e.type = 'whatsapp.message.status') as published,
      count(*) filter (where u.update_status = 'applied')::integer = (
        select count(*) from outbox.event e where e.type = 'whatsapp.message.status') as once,
      count(*) filter (where u.update_status = 'applied')::integer = (
        select count(*) from outbox.audit_event x where x.action = 'UPDATED' and x.entity_type = 'OUTBOUND_MESSAGE') as audited,
      count(*)::integer = (select sum(c.n) from outbox.callback_count c where c.update_status <> 'kept') as counted,
      (select count(*)::integer from outbox.delivery d join outbox.outbound_message m on m.event_id = d.event_id
        where m.status <> 'QUEUED') as retries
    from outbox.whatsapp_update u`
  expect(row).toEqual({
    stored: keys,
    open: 0,
    published: true,
    once: true,
    audited: true,
    counted: true,
    retries: 0,
  })
}

Deno.test('receive_callbacks() applies failed or delivered of one try, whichever came first, and counts the other', async () => {
  const random = new Random(newSeed())
  const told = (await messagesUnderWay(owner.sql, { count: 40, random }))
    .map((one) => ({ ...one, answer: 'known' as const }))
  await answer(owner.sql, told.map((one) => ({ ...one, result: takenAs(one) })), 1001)
  const batches = told.map(({ wamid, number }) =>
    ['failed', 'delivered'].map((status) => ({
      key: `${wamid} ${status}`,
      kind: 'status' as const,
      field: 'messages' as const,
      waba_id: '200000000000001',
      phone_number_id: number,
      wamid,
      status,
      at: 1772366401,
      data: {},
    }))
  )
  await Promise.all(
    sessions.map(async ({ sql }, index) => {
      for (const batch of batches) await receive(sql, batch.slice(index % 2, index % 2 + 1))
    }),
  )
  // A status whose message has failed at the same moment waits for the tick, which locks the gate.
  await db.admin`select outbox.apply_callbacks()`
  const rows = await db.admin`
    select m.status, count(*) filter (where u.update_status = 'applied')::integer as applied,
      max(u.reason) filter (where u.update_status = 'skipped') as reason
    from outbox.outbound_message m join outbox.whatsapp_update u on u.message_id = m.id group by m.id, m.status`
  expect(rows.length).toBe(40)
  for (const { status, applied, reason } of rows) {
    expect([status, applied, reason]).toEqual(
      status === 'FAILED' ? ['FAILED', 1, 'after_failed'] : ['DELIVERED', 1, 'after_delivered'],
    )
  }
})

Deno.test('a status of the first attempt and the response of the second lose nothing at the same moment', async () => {
  const told = await messagesUnderWay(owner.sql, { count: 60, random: new Random(newSeed()) })
  await answer(owner.sql, told.map((one) => ({ ...one, result: refused(one) })), 1001)
  await owner.sql`update outbox.test_clock set at = at + interval '11 minutes' where only_row`
  const second: { id: string; result: Told['result'] }[] = []
  for (let seq = 1002; second.length < 60 && seq < 1100; seq += 1) {
    second.push(
      ...await owner.sql<typeof second>`
        select m.id::text as id, jsonb_build_object('event', d -> 'event', 'endpoint', d -> 'endpoint',
          'attempt', d -> 'attempt', 'outcome', 'failed', 'status', 400, 'code', '131016') as result
        from json_array_elements(outbox.dispatch('00000000-0000-7000-8000-000000000009', ${seq}, '[]', 400, 'worker') -> 'deliveries') d
        join outbox.outbound_message m on m.event_id = (d ->> 'event')::uuid`,
    )
  }
  expect(second.length).toBe(60)
  const before = await deadlocks(db.admin)
  const [callbacks, other] = sessions
  if (callbacks === undefined || other === undefined) throw new Error('two sessions are needed')
  const statuses = ['sent', 'delivered'].map((status) =>
    told.map((one): Update => ({ ...statusOf(one, status), callback_data: `ob1:${one.id}:1` }))
  )
  await Promise.all([
    (async () => {
      for (const batch of statuses) await receive(callbacks.sql, batch)
    })(),
    (async () => {
      const rest = told.map((one) => ({ ...one, result: resultOf(second, one) })).reverse()
      for (let seq = 2001; rest.length > 0; seq += 1) {
        await answer(owner.sql, rest.splice(0, 5), seq)
      }
    })(),
  ])
  await other.sql`select outbox.apply_callbacks(1000)`
  const [row] = await db.admin`
    select count(*) filter (where m.status = 'DELIVERED')::integer as delivered,
      (select count(*)::integer from outbox.delivery) as retries
    from outbox.outbound_message m`
  expect(row).toEqual({ delivered: 60, retries: 0 })
  await expectExactCounters(db.admin)
  expect(await deadlocks(db.admin)).toBe(before)
})

function refused({ result }: Told): Told['result'] {
  const { event, endpoint, attempt } = result
  // Not a timeout, which would open the breaker.
  return { event, endpoint, attempt, outcome: 'failed', status: 400, code: '131016' }
}

function resultOf(results: { id: string; result: Told['result'] }[], { id }: Told): Told['result'] {
  const found = results.find((one) => one.id === id)
  if (found === undefined) throw new Error(`message ${id} was not claimed again`)
  return found.result
}

/** A status of a message at the time of the test's clock. */
function statusOf({ wamid, number }: Told, status: string): Update {
  return {
    key: `${wamid} ${status}`,
    kind: 'status',
    field: 'messages',
    waba_id: '200000000000001',
    phone_number_id: number,
    wamid,
    status,
    at: 1772366401,
    data: {},
  }
}

Deno.test('receive_callbacks() keeps each message of a person once, and their last word, in any order', async () => {
  const seed = newSeed()
  const random = new Random(seed)
  await messagesUnderWay(owner.sql, { count: 2, random })
  const people = Array.from({ length: 20 }, (_, n) => person(n, random))
  const updates = people.flatMap(({ updates }) => updates)
  const before = await deadlocks(db.admin)
  await Promise.all(sessions.map(async ({ sql }, index) => {
    const own = new Random(seed + index + 1)
    const rest = own.shuffled([...updates, ...updates])
    while (rest.length > 0) await receive(sql, rest.splice(0, 1 + own.int(15)))
  }))
  await settle(owner.sql)
  const messages = updates.filter(({ kind }) => kind === 'message').length
  const [counts] = await db.admin`
    select (select count(*)::integer from outbox.inbound_message) as messages,
      (select count(*)::integer from outbox.person) as contacts,
      (select count(*)::integer from outbox.event e where e.type = 'whatsapp.message.received') as published,
      (select count(*)::integer from outbox.whatsapp_update u where u.update_status <> 'applied') as open`
  const rows = await db.admin`
    select i.value as recipient, max(o.purpose) filter (where o.purpose = 'ALL' and not o.lifted) as everything,
      max(o.purpose) filter (where o.purpose = 'MARKETING' and not o.lifted) as marketing
    from outbox.opt_out o join outbox.person_identifier i on i.person_id = o.person_id
    where i.value like '+%' group by i.value`
  const found = new Map(
    rows.map((row) => [row.recipient, [row.everything !== null, row.marketing !== null]]),
  )
  const stopped = people.map(({ number }) => found.get(`+${number}`) ?? [false, false])
  expect({ seed, counts, stopped }).toEqual({
    seed,
    counts: { messages, contacts: people.length, published: messages, open: 0 },
    stopped: people.map(({ wants }) => wants),
  })
  expect(await deadlocks(db.admin)).toBe(before)
})

/** A person who says something now and then, by number, by WhatsApp's id, or by both, and what they want in the end. */
function person(n: number, random: Random): {
  number: string
  updates: Update[]
  wants: [everything: boolean, marketing: boolean]
} {
  const number = `120255501${String(n).padStart(2, '0')}`
  const words = ['STOP', 'Start', 'Hello', 'stop', 'resume', 'unsubscribe']
  const said = Array.from({ length: 1 + random.int(6) }, (_, place) => ({
    word: words[random.int(words.length)] ?? 'Hello',
    at: 1772366401 + random.int(4),
    place,
  }))
  const updates = said.map(({ word, at, place }): Update => ({
    key: `${number} ${place}`,
    kind: word === 'stop' || word === 'resume' ? 'preference' : 'message',
    field: 'messages',
    waba_id: '200000000000001',
    phone_number_id: '100000000000001',
    wamid: `wamid.${number}.${place}`,
    status: word === 'stop' || word === 'resume' ? word : 'text',
    at,
    wa_id: number,
    user_id: random.next() < 0.5 ? `US.${number}` : null,
    data: word === 'stop' || word === 'resume'
      ? { category: 'marketing_messages' }
      : { text: { body: word } },
  }))
  // The later word counts, and of two at one time the one that asks for less.
  const lastOf = (stops: string[], starts: string[]): boolean => {
    const words = said.filter(({ word }) => stops.includes(word) || starts.includes(word))
    const last = Math.max(...words.map(({ at }) => at))
    return words.some(({ word, at }) => at === last && stops.includes(word))
  }
  return {
    number,
    updates,
    wants: [lastOf(['STOP', 'unsubscribe'], ['Start']), lastOf(['stop'], ['resume', 'Start'])],
  }
}

function takenAs({ result, wamid }: Told): Told['result'] {
  const { event, endpoint, attempt } = result
  return { event, endpoint, attempt, outcome: 'delivered', status: 200, provider_id: wamid }
}

Deno.test('receive_callbacks() answers although somebody holds a message, and applies it later', async () => {
  const told = await messagesUnderWay(owner.sql, { count: 2, random: new Random(1) })
  await answer(owner.sql, told.map((one) => ({ ...one, result: takenAs(one) })), 1001)
  const [held, other] = told
  const [console_, callback] = sessions
  if (held === undefined || other === undefined) throw new Error('two messages are needed')
  if (console_ === undefined || callback === undefined) throw new Error('two sessions are needed')
  const update = (one: Told): Update => statusOf(one, 'delivered')
  await console_.sql`begin`
  await console_.sql`select from outbox.outbound_message where id = ${held.id}::bigint for update`
  const answered = receive(callback.sql, [update(held), update(other)])
  await expectWaitsFor(db.admin, callback, console_)
  await answered
  await sweeper.sql`select outbox.apply_callbacks(100)`
  await console_.sql`commit`
  const states = async (): Promise<unknown[]> =>
    (await db
      .admin`select m.status from outbox.outbound_message m order by m.id = ${held.id}::bigint`)
      .map(({ status }) => status)
  expect(await states()).toEqual(['SENT', 'SENT'])
  await settle(owner.sql)
  expect(await states()).toEqual(['DELIVERED', 'DELIVERED'])
})
