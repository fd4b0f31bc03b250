/** WhatsApp messages one by one, for tests that cross two calls over the same message. */

import type { Sql } from 'postgres'
import type { Delivery } from '../../../functions/_shared/contract/contract.ts'
import { receive } from './callbacks.ts'
import type { Report, Run } from './dispatch.ts'

/** The only app and account; the clock starts at this time. */
export const APP = '900000000000001'
const ACCOUNT = '200000000000001'
export const NOW = '2026-03-01 12:00:00Z'

/** A message, with what names it to runs. */
export interface Message {
  id: string
  event: string
  channel: string
}

/** Makes the app, a template and the channels of these numbers; the clock stands. Returns the channels' ids. */
export async function addChannels(sql: Sql, numbers = ['100000000000001']): Promise<string[]> {
  await sql`insert into outbox.test_clock (at) values (${NOW})`
  await sql`
    select outbox.put_whatsapp_app(${APP}, 'secret'),
      outbox.put_template('default', 'reminder', 'appointment_reminder', 'fr', 'UTILITY')`
  const ids: string[] = []
  for (const number of numbers) {
    const [row] = await sql`
      select outbox.create_channel('default', ${number}, ${ACCOUNT}, ${APP}, 'token') ->> 'id' as id`
    ids.push(row?.id)
  }
  return ids
}

/** Queues one message, through a channel or the default one. */
export async function addMessage(
  sql: Sql,
  { to = '+12025550111', channel = null }: { to?: string; channel?: string | null } = {},
): Promise<Message> {
  const [made] = await sql`
    select outbox.create_message('default', ${to}, '{"parameters": ["Anna"]}', 'reminder',
      p_channel_id => ${channel}) #>> '{message,id}' as id`
  const [row] = await sql<Message[]>`
    select m.id::text as id, m.event_id as event, m.channel_id as channel
    from outbox.outbound_message m where m.id = ${made?.id}`
  if (row === undefined) throw new Error('no message was made')
  return row
}

/** Routes and claims one message, so that it is SENDING. */
export async function take(run: Run): Promise<Delivery> {
  await run.call()
  const { deliveries: [delivery] } = await run.call([], 1)
  if (delivery === undefined) throw new Error('no message was claimed')
  return delivery
}

/** The answer that WhatsApp took a message under an id. */
export function taken({ event, endpoint, attempt }: Delivery): Report {
  return {
    event,
    endpoint,
    attempt,
    outcome: 'delivered',
    status: 200,
    provider_id: `wamid.${event}`,
  }
}

/** The answer that WhatsApp refused a message with one of its codes, or that none came. */
export function refused({ event, endpoint, attempt }: Delivery, code: string | null): Report {
  const key = { event, endpoint, attempt, outcome: 'failed' as const }
  return code === null ? { ...key, error_class: 'timeout' } : { ...key, status: 400, code }
}

/** Says one status of the first attempt of a message, as a callback would. */
export async function say(
  sql: Sql,
  { id, event }: Message,
  status: string,
  { code = '131026', number = '100000000000001', display }: {
    code?: string
    number?: string
    display?: string
  } = {},
): Promise<void> {
  await receive(sql, [{
    key: `${id} ${status}`,
    kind: 'status',
    field: 'messages',
    waba_id: ACCOUNT,
    phone_number_id: number,
    wamid: `wamid.${event}`,
    status,
    at: Date.parse('2026-03-01T12:00:01Z') / 1000,
    callback_data: `ob1:${id}:1`,
    ...display === undefined ? {} : { display },
    data: status === 'failed' ? { errors: [{ code: Number(code), title: 'Refused' }] } : {},
  }])
}

/** The status of a message. */
export async function statusOf(sql: Sql, { id }: Message): Promise<string> {
  const [row] = await sql`select m.status from outbox.outbound_message m where m.id = ${id}`
  return row?.status
}

/** Lets time pass. */
export async function wait(sql: Sql, time: string): Promise<void> {
  await sql`update outbox.test_clock set at = at + ${time}::interval where only_row`
}
