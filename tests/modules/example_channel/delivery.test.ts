/** SMS end to end: core, api, messages and sms.sql as migrations, the real loop, and a provider. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { readFunctionConfigs } from '../../../supabase/local/functions/mod.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { type Stack, startStack } from '../../../supabase/local/stack.ts'
import { databaseFolder } from '../../_support/folder.ts'
import { patienceMs } from '../../_support/patience.ts'
import { copyPrepared } from '../../_support/prepared.ts'
import { copyProject } from '../../_support/project_copy.ts'
import { smsError, type SmsProvider, startSmsProvider } from './_server.ts'

const folder = join(projectRoot, 'tests/modules/example_channel')
const stopping = new AsyncDisposableStack()
const log: string[] = []
let stack: Stack
let sql: Sql
let provider: SmsProvider
let channel: string

Deno.test.beforeAll(async () => {
  const project = stopping.use(await copyProject())
  const installed = join(project.root, 'tests/modules/example_channel')
  await Deno.mkdir(installed, { recursive: true })
  for (const name of ['sender.ts', 'deliver.ts']) {
    await Deno.copyFile(join(folder, name), join(installed, name))
  }
  await Deno.copyFile(
    join(folder, 'sms.sql'),
    join(project.root, 'supabase/migrations/20260301000000_sms.sql'),
  )
  const dataDir = databaseFolder()
  stopping.defer(() => Deno.remove(dataDir, { recursive: true }))
  await copyPrepared(dataDir, 'platform')
  const configs = await readFunctionConfigs(project.root)
  const functions = configs.filter(({ name }) => name === 'api' || name === 'deliver')
    .map((config) =>
      config.name === 'api' ? config : { ...config, entrypoint: join(installed, 'deliver.ts') }
    )
  stack = await startStack({
    projectDir: project.root,
    dataDir,
    ports: 'free',
    fsync: false,
    functions,
    ticksAtOnce: true,
    log: (line) => log.push(line),
  })
  stopping.defer(() => stack.stop())
  provider = stopping.use(startSmsProvider())
  provider.keys.add('key-good')
  sql = postgres(stack.dbUrl, { max: 4, onnotice: () => {} })
  stopping.defer(() => sql.end({ timeout: 1 }))
  const [row] = await sql`
    select outbox.create_sms_channel('org-1', ${provider.url}, 'Clinic', 'key-good', 0) ->> 'id' as id`
  channel = row?.id
})
Deno.test.afterAll(() => stopping.disposeAsync())

let people = 0

/** A number that no other test has. */
function somebody(): string {
  return `+120255${String(70_000 + people++)}`
}

type Created = { outcome: string; id: string | null; code: string | null }

async function create(to: string, text = 'Hello', dossier: string | null = null): Promise<Created> {
  const [row] = await sql<Created[]>`
    select r ->> 'outcome' as outcome, r -> 'message' ->> 'id' as id, r ->> 'code' as code
    from outbox.create_message('org-1', ${to}, ${sql.json({ text })}, p_channel => 'SMS',
      p_dossier_id => ${dossier}) r`
  if (row === undefined) throw new Error('no message')
  return row
}

/** The message once it has this status. */
async function settled(id: string | null, status: string): Promise<Record<string, unknown>> {
  let message: Record<string, unknown> = {}
  const holds = async (): Promise<boolean> => {
    const [row] = await sql`select outbox.get_message('org-1', ${id}) as message`
    message = row?.message
    return message['status'] === status
  }
  if (!await waitUntil(holds, { timeoutMs: patienceMs })) {
    throw new Error(`the message is ${JSON.stringify(message)}: ${log.join('\n')}`)
  }
  return message
}

function takenFor(to: string): string[] {
  return provider.taken.filter((sms) => sms.to === to).map(({ text }) => text)
}

/** The SQLSTATE and the field of an error. */
function refused(call: Promise<unknown>): Promise<string> {
  return call.then(() => 'accepted', (error) => `${error.code} ${error.detail ?? error.message}`)
}

Deno.test('a message of the channel SMS is sent, with its attempt and its audit trail', async () => {
  const to = somebody()
  const { outcome, id } = await create(to, 'Your appointment is at 9')
  expect(outcome).toBe('created')
  expect(await settled(id, 'SENT')).toMatchObject({
    channel: 'SMS',
    channelId: channel,
    attemptCount: 1,
    providerMessageId: provider.taken.find((sms) => sms.to === to)?.id,
    attempts: [{ attemptNo: 1, status: 'SUCCESS' }],
  })
  expect(takenFor(to)).toEqual(['Your appointment is at 9'])
  const trail = await sql`
    select a.action from outbox.audit_event a
    where a.entity_type = 'OUTBOUND_MESSAGE' and a.entity_id = ${id} order by a.id`
  expect(trail.map(({ action }) => action)).toEqual(['CREATED', 'SENT'])
})

Deno.test('the messages of one person leave in order', async () => {
  const to = somebody()
  const made = []
  for (const text of ['one', 'two', 'three']) made.push(await create(to, text))
  for (const { id } of made) await settled(id, 'SENT')
  expect(takenFor(to)).toEqual(['one', 'two', 'three'])
})

Deno.test('an opt-out and a missing consent stop a message of SMS, and neither stops WhatsApp', async () => {
  const to = somebody()
  await sql`select outbox.opt_out_recipient('org-1', ${to}, 'letter', p_channel => 'SMS')`
  expect(await create(to)).toMatchObject({ outcome: 'blocked', code: 'opted_out' })
  await sql`select outbox.opt_in_recipient('org-1', ${to}, p_channel => 'SMS')`
  expect(await create(to, 'Hello', 'dossier-1'))
    .toMatchObject({ outcome: 'blocked', code: 'consent_required' })
  await sql`
    select outbox.grant_consent('org-1', 'dossier-1', '{UTILITY}', 'form', p_channel => 'SMS')`
  const { id } = await create(to, 'Hello', 'dossier-1')
  await settled(id, 'SENT')
  const [row] = await sql`
    select count(*)::integer as n from outbox.opt_out o where o.channel <> 'SMS'`
  expect(row?.n).toBe(0)
})

Deno.test('a number that takes no SMS fails the message, without a dead letter', async () => {
  const to = somebody()
  provider.invalid.add(to)
  const { id } = await create(to)
  expect(await settled(id, 'FAILED')).toMatchObject({
    errorCode: 'invalid_number',
    attemptCount: 1,
  })
  const [row] = await sql`
    select count(*)::integer as n from outbox.dead_letter x
    join outbox.outbound_message m on m.event_id = x.event_id where m.id = ${id}::bigint`
  expect(row?.n).toBe(0)
})

Deno.test('a temporary failure is retried by the schedule of the kind, and sends one SMS', async () => {
  const to = somebody()
  provider.next.push(smsError(500, 'internal'))
  const { id } = await create(to)
  const message = await settled(id, 'SENT')
  expect(message).toMatchObject({
    attemptCount: 2,
    attempts: [{ status: 'FAILED', errorCode: 'internal' }, { status: 'SUCCESS' }],
  })
  expect(takenFor(to)).toEqual(['Hello'])
})

Deno.test('what the provider reports decides the status of the message', async () => {
  const report = async (
    id: unknown,
    status: string,
    code: string | null = null,
  ): Promise<string> => {
    const [row] = await sql`
      select outbox.report_sms(${channel}, ${
      String(id)
    }, ${status}, ${code}) ->> 'status' as status`
    return row?.status
  }
  const first = await settled((await create(somebody())).id, 'SENT')
  expect(await report(first['providerMessageId'], 'delivered')).toBe('DELIVERED')
  expect(await report(first['providerMessageId'], 'delivered')).toBe('DELIVERED')
  expect(await report(first['providerMessageId'], 'failed', 'expired')).toBe('DELIVERED')
  const trail = await sql`
    select a.details from outbox.audit_event a where a.entity_id = ${String(first['id'])}
      and a.entity_type = 'OUTBOUND_MESSAGE' and a.details like 'Delivery status%'`
  expect(trail.map(({ details }) => details)).toEqual(['Delivery status updated to: delivered'])
  const second = await settled((await create(somebody(), 'Hello', 'dossier-1')).id, 'SENT')
  expect(await report(second['providerMessageId'], 'failed', 'expired')).toBe('FAILED')
  expect(await settled(String(second['id']), 'FAILED')).toMatchObject({ errorCode: 'expired' })
  expect(await report('sms-unknown', 'delivered')).toBe('unknown')
  const [activity] = await sql`
    select v.metadata from outbox.activity v
    where v.type = 'MESSAGE_STATUS_UPDATE' and v.metadata ->> 'deliveryStatus' = 'failed'`
  expect(activity?.metadata).toMatchObject({ errorCode: 'expired' })
})

Deno.test('a message that failed by a report is sent again by resend_message()', async () => {
  const to = somebody()
  const first = await settled((await create(to, 'Again')).id, 'SENT')
  await sql`
    select outbox.report_sms(${channel}, ${
    String(first['providerMessageId'])
  }, 'failed', 'expired')`
  await sql`select outbox.resend_message('org-1', ${String(first['id'])})`
  const second = await settled(String(first['id']), 'SENT')
  expect(takenFor(to)).toEqual(['Again', 'Again'])
  expect(second['providerMessageId']).not.toBe(first['providerMessageId'])
})

Deno.test('an invalid payload and a template are refused when the message is created', async () => {
  const to = somebody()
  const ask = (payload: string, template: string | null = null): Promise<string> =>
    refused(sql`
      select outbox.create_message('org-1', ${to}, ${payload}::text::jsonb, ${template},
        p_channel => 'SMS')`)
  expect([
    await ask('{}'),
    await ask('{"text": ""}'),
    await ask(JSON.stringify({ text: 'x'.repeat(1_601) })),
    await ask('{"text": "a"}', 'reminder'),
  ]).toEqual([
    'OH001 payloadJson.text',
    'OH001 payloadJson.text',
    'OH001 payloadJson.text',
    'OH001 templateCode',
  ])
  expect(takenFor(to)).toEqual([])
  expect(
    await refused(sql`
    select outbox.create_message('org-2', ${to}, '{"text": "a"}', p_channel => 'SMS')`),
  )
    .toBe('OH002 organisation org-2 has no channel SMS')
  expect(
    await refused(sql`
    select outbox.create_message('org-2', ${to}, '{"text": "a"}', p_channel => 'SMS',
      p_channel_id => ${channel})`),
  ).toBe(`OH002 channel ${channel} does not exist`)
  expect(
    await refused(sql`
    select outbox.create_message('org-1', ${to}, '{"text": "a"}', p_channel => 'FAX')`),
  )
    .toBe('OH001 channel')
})

Deno.test('the API sends, shows and lists messages of the channel', async () => {
  const to = somebody()
  const call = async (
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Record<string, unknown> }> => {
    const response = await fetch(`${stack.apiUrl}/functions/v1/api/v1${path}`, {
      method,
      headers: {
        apikey: stack.keys.secretKey,
        'x-org-id': 'org-1',
        'content-type': 'application/json',
      },
      ...body === undefined ? {} : { body: JSON.stringify(body) },
    })
    return { status: response.status, body: await response.json() }
  }
  const message = { channel: 'SMS', to, payloadJson: { text: 'By HTTP' } }
  const created = await call('POST', '/outbound/messages', message)
  expect(created).toMatchObject({ status: 201, body: { channel: 'SMS', status: 'QUEUED' } })
  await settled(String(created.body['id']), 'SENT')
  expect(takenFor(to)).toEqual(['By HTTP'])
  expect(await call('GET', '/outbound/messages?channel=SMS&limit=1'))
    .toMatchObject({ status: 200, body: { data: [{ id: created.body['id'] }] } })
  expect(await call('GET', '/outbound/messages?channel=WHATSAPP'))
    .toMatchObject({ status: 200, body: { data: [] } })
  const invalid = { ...message, payloadJson: { text: 7 } }
  expect(await call('POST', '/outbound/messages', invalid))
    .toMatchObject({ status: 400, body: { field: 'payloadJson.text' } })
})

Deno.test('a deleted channel fails its unsent messages, and leaves nothing', async () => {
  const [made] = await sql`
    select outbox.create_sms_channel('org-3', ${provider.url}, 'Clinic', 'key-good') ->> 'id' as id`
  await sql`select outbox.pause_endpoint(${made?.id}, 'test')`
  const [row] = await sql`
    select outbox.create_message('org-3', ${somebody()}, '{"text": "a"}', p_channel => 'SMS')
      -> 'message' ->> 'id' as id`
  await sql`select outbox.delete_endpoint(${made?.id})`
  const isGone = async (): Promise<boolean> => {
    const [left] = await sql`
      select (select m.status || ' ' || m.error_code from outbox.outbound_message m
          where m.id = ${row?.id}::bigint) as message,
        (select count(*)::integer from outbox.message_channel c
          where c.endpoint_id = ${made?.id}) as channels`
    return left?.message === 'FAILED channel_deleted' && left.channels === 0
  }
  expect(await waitUntil(isGone, { timeoutMs: patienceMs })).toBe(true)
})

Deno.test('a key that is not valid disables the channel, and a new one sends what waits', async () => {
  const to = somebody()
  provider.keys.delete('key-good')
  const { id } = await create(to)
  const status = async (): Promise<string> => {
    const [row] = await sql`select e.status from outbox.endpoint e where e.id = ${channel}`
    return row?.status
  }
  expect(await waitUntil(async () => await status() === 'disabled', { timeoutMs: patienceMs }))
    .toBe(true)
  provider.keys.add('key-new')
  await sql`select outbox.set_sms_key(${channel}, 'key-new')`
  await sql`select outbox.resume_endpoint(${channel})`
  await settled(id, 'SENT')
  expect(takenFor(to)).toEqual(['Hello'])
})
