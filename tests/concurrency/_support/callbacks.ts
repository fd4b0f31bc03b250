/** Messages, what WhatsApp says of each, and what must come of it in whatever order it is said. */

import type { Sql } from 'postgres'
import { Random } from './random.ts'

const APP = '900000000000001'
const NUMBERS = ['100000000000001', '100000000000002']
/** Long past the looks of what waits for its message, and any retry. */
const LATER = '1 hour'
/** The test's clock at its beginning: no lease ends and no status is absurd. */
const NOW = Date.UTC(2026, 2, 1, 12) / 1000

/** What became of the call that sent a message, and when we hear of it. */
type Answer = 'known' | 'lost' | 'late' | 'lost late'

/** One update in the form that receive_callbacks() takes. */
export interface Update {
  key: string
  kind: 'status' | 'message' | 'preference'
  field: 'messages'
  waba_id: string
  phone_number_id: string
  display?: string
  wamid: string
  status: string
  at: number
  callback_data?: string
  wa_id?: string
  user_id?: string | null
  data: Record<string, unknown>
}

/** A message on its way, with all that is going to be said of it. */
export interface Told {
  id: string
  number: string
  wamid: string
  answer: Answer
  updates: Update[]
  result: Record<string, unknown>
}

/** How a message stands in the end; times are Unix seconds. */
export interface Ending {
  status: string
  wamid: string | null
  delivered: number | null
  read: number | null
  code: string | null
  facts: (number | null)[]
}

/** Makes `count` messages of two organisations and claims them all: each is being sent. */
export async function messagesUnderWay(
  sql: Sql,
  { count, random }: { count: number; random: Random },
): Promise<Told[]> {
  await sql`insert into outbox.test_clock (at) values (to_timestamp(${NOW}))`
  await sql`select outbox.put_whatsapp_app(${APP}, 'secret')`
  for (const [index, number] of NUMBERS.entries()) {
    const org = `org-${index}`
    await sql`
      select outbox.create_channel(${org}, ${number}, '200000000000001', ${APP}, 'token'),
        outbox.put_template(${org}, 'reminder', 'appointment_reminder', 'fr', 'UTILITY'),
        outbox.grant_consent(${org}, 'dossier', '{UTILITY}', 'web form')`
  }
  // The pace of a number is not what this is about, and the clock stands.
  await sql`update outbox.endpoint set rate_per_second = null, max_in_flight = 1000 where true`
  await sql`
    select outbox.create_message('org-' || n % 2, '+1202555' || lpad(n::text, 4, '0'), '{"parameters": ["Anna"]}',
      'reminder', 'dossier', n::text)
    from generate_series(1, ${count}::integer) n`
  const rows: { id: string; number: string; event: string; endpoint: string; attempt: number }[] =
    []
  for (let seq = 1; rows.length < count; seq += 1) {
    if (seq > 100) throw new Error(`${rows.length} of ${count} messages were claimed`)
    const claimed = await sql<typeof rows>`
      select m.id::text as id, w.phone_number_id as number, d ->> 'event' as event, d ->> 'endpoint' as endpoint,
        (d ->> 'attempt')::integer as attempt
      from json_array_elements(outbox.dispatch('00000000-0000-7000-8000-000000000009', ${seq}, '[]', 400, 'worker') -> 'deliveries') d
      join outbox.outbound_message m on m.event_id = (d ->> 'event')::uuid
      join outbox.whatsapp_channel w on w.endpoint_id = m.channel_id`
    rows.push(...claimed)
  }
  return rows.map((row) => plan(row, random))
}

const ANSWERS: Answer[] = ['known', 'lost', 'late', 'lost late']
const SAYINGS = [
  ['sent'],
  ['delivered'],
  ['read'],
  ['sent', 'delivered'],
  ['sent', 'delivered', 'read'],
  ['delivered', 'read', 'played'],
  ['sent', 'sent', 'delivered', 'delivered', 'read'],
  ['failed'],
  ['sent', 'failed'],
  ['sent', 'failed', 'failed', 'warning'],
  [],
]

function plan(
  row: { id: string; number: string; event: string; endpoint: string; attempt: number },
  random: Random,
): Told {
  const { id, number, event, endpoint, attempt } = row
  const answer = ANSWERS[random.int(ANSWERS.length)] ?? 'known'
  const wamid = `wamid.${id}`
  // Only the callback data can name a try whose answer was lost.
  const named = answer.startsWith('lost') || random.next() < 0.5
  const updates = (SAYINGS[random.int(SAYINGS.length)] ?? []).map((status, index): Update => ({
    key: `${wamid} ${status} ${index}`,
    kind: 'status',
    field: 'messages',
    waba_id: '200000000000001',
    phone_number_id: number,
    wamid,
    status,
    at: NOW + 1 + random.int(60),
    ...named ? { callback_data: `ob1:${id}:1` } : {},
    data: status === 'failed' ? { errors: [{ code: 131026, title: 'Undeliverable' }] } : {},
  }))
  const result = answer.startsWith('lost')
    ? { outcome: 'failed', error_class: 'timeout', error: 'No answer' }
    : { outcome: 'delivered', status: 200, provider_id: wamid }
  return { id, number, wamid, answer, updates, result: { event, endpoint, attempt, ...result } }
}

/** Says all of it in random batches of random order, some of it up to three times. */
export function batchesOf(told: Told[], random: Random): Update[][] {
  const all = told.flatMap(({ updates }) =>
    updates.flatMap((update) => Array.from({ length: 1 + random.int(3) }, () => update))
  )
  const batches: Update[][] = []
  let rest = random.shuffled(all)
  while (rest.length > 0) {
    const size = 1 + random.int(40)
    batches.push(rest.slice(0, size))
    rest = rest.slice(size)
  }
  return batches
}

/** One callback. */
export async function receive(sql: Sql, batch: Update[]): Promise<void> {
  // SAFETY: Update is JSON.
  const json = sql.json(batch as unknown as Parameters<Sql['json']>[0])
  await sql`select outbox.receive_callbacks(${APP}, null, ${json})`
}

/** Reports what the calls came to, of those that were answered so. */
export async function answer(sql: Sql, told: Told[], seq: number): Promise<void> {
  // SAFETY: a result is JSON.
  const json = sql.json(told.map(({ result }) => result) as Parameters<Sql['json']>[0])
  await sql`select outbox.dispatch('00000000-0000-7000-8000-000000000009', ${seq}, ${json}, 0, 'worker')`
}

/** Lets time pass until nothing waits any more: looks at callbacks, and every retry. */
export async function settle(sql: Sql): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    await sql`update outbox.test_clock set at = at + ${LATER}::interval where only_row`
    await sql`select outbox.apply_callbacks(10000)`
  }
  // The lane of a person outlives its last delivery by the pace of one recipient.
  await sql`select outbox.cleanup()`
}

/** What must come of a message, by the rules and without any order. */
export function endingOf({ updates, wamid, answer }: Told): Ending {
  const first = (...words: string[]): number | null => {
    const times = updates.filter(({ status }) => words.includes(status)).map(({ at }) => at)
    return times.length === 0 ? null : Math.min(...times)
  }
  const facts = [first('sent'), first('delivered'), first('read', 'played'), first('failed')]
  const [sent, delivered, read, failed] = facts
  const arrived = first('delivered', 'read', 'played')
  const isLost = answer.startsWith('lost')
  const isKnown = !isLost || facts.some((at) => at !== null)
  const status = arrived !== null
    ? 'DELIVERED'
    : failed !== null
    ? 'FAILED'
    : sent !== null || !isLost
    ? 'SENT'
    : 'QUEUED'
  return {
    status,
    wamid: isKnown ? wamid : null,
    delivered: arrived,
    read: arrived === null ? null : read ?? null,
    code: status === 'FAILED' ? '131026' : status === 'QUEUED' ? 'timeout' : null,
    facts: [sent ?? null, delivered ?? null, read ?? null, failed ?? null],
  }
}

/** How the messages stand, by id. */
export async function endings(sql: Sql): Promise<Map<string, Ending>> {
  const rows = await sql<(Ending & { id: string })[]>`
    select m.id::text as id, m.status, m.provider_message_id as wamid,
      extract(epoch from m.delivered_at)::integer as delivered, extract(epoch from m.read_at)::integer as read,
      m.error_code as code,
      array[extract(epoch from a.sent_at)::integer, extract(epoch from a.delivered_at)::integer,
        extract(epoch from a.read_at)::integer, extract(epoch from a.failed_at)::integer] as facts
    from outbox.outbound_message m join outbox.message_attempt a on a.message_id = m.id`
  return new Map(rows.map(({ id, ...ending }) => [id, ending]))
}
