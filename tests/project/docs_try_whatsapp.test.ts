/** The pages on messages and on WhatsApp of this machine, word for word but for ids and ports. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { type Stack, type StackOptions, startStack } from '../../supabase/local/stack.ts'
import { databaseFolder } from '../_support/folder.ts'
import { patienceMs } from '../_support/patience.ts'
import { copyPrepared } from '../_support/prepared.ts'
import { docsBlock } from './_docs.ts'

let stack: Stack
const stopping = new AsyncDisposableStack()

Deno.test.beforeAll(async () => {
  const folder = databaseFolder()
  stopping.defer(() => Deno.remove(folder, { recursive: true }))
  await copyPrepared(folder, 'migrations')
  stack = await startStack({
    dataDir: folder,
    ports: 'free',
    fsync: false,
    ticksAtOnce: true,
    whatsapp: true,
  })
  stopping.defer(() => stack.stop())
})
Deno.test.afterAll(() => stopping.disposeAsync())

async function query(sql: string): Promise<string> {
  const { code, stdout, stderr } = await stack.psql(sql)
  if (code !== 0) throw new Error(stderr)
  return stdout
}

/** Runs commands of the page with the port of this stack, and reads the JSON of each line. */
async function shell(script: string): Promise<Record<string, unknown>[]> {
  const url = stack.whatsappUrl ?? ''
  const head = `WHATSAPP=${url}\n`
  const { code, stdout, stderr } = await new Deno.Command('sh', {
    args: ['-ec', head + script.replaceAll('http://127.0.0.1:54390', url)],
  }).output()
  const decoder = new TextDecoder()
  expect([code, decoder.decode(stderr)]).toEqual([0, ''])
  return decoder.decode(stdout).trim().split('\n').map((line) => JSON.parse(line))
}

/** How many messages WhatsApp has taken. */
async function taken(): Promise<number> {
  const response = await fetch(`${stack.whatsappUrl}/people`)
  return (await response.json()).data.length
}

const messages = docsBlock('messages').replaceAll('<app id, digits>', '1'.repeat(15))
  .replace('<app secret, 32 hex digits>', 'a'.repeat(32))
  .replace('<phone number id, digits>', '2'.repeat(15))
  .replace('<account id, digits>', '3'.repeat(15))
  .replace('<token>', 'EAAtoken')

Deno.test('the message of the page on messages is sent, delivered and read by the calls of the page', async () => {
  expect(await query(messages)).toContain('"outcome": "created"')
  expect(await waitUntil(async () => await taken() === 1, { timeoutMs: patienceMs })).toBe(true)
  const applied = { callback: { status: 200, body: { skipped: 0 } } }
  expect(await shell(docsBlock('try-whatsapp'))).toMatchObject([
    {
      data: [{
        to: '+12025550111',
        number: '2'.repeat(15),
        content: { name: 'appointment_reminder', language: { code: 'fr' } },
        reported: [],
      }],
    },
    { reported: ['sent', 'delivered'], ...applied },
    { reported: ['read'], ...applied },
  ])
  expect(await query(docsBlock('try-whatsapp-read'))).toBe('DELIVERED|t')
})

Deno.test('a STOP of the page is an opt-out, and a failure has its code', async () => {
  const create = `select outbox.create_message('org-123', '+12025550112', '{"parameters": ["Bo"]}',
    'reminder') ->> 'outcome'`
  const before = await taken()
  expect(await query(create)).toBe('created')
  expect(await waitUntil(async () => await taken() > before, { timeoutMs: patienceMs })).toBe(true)
  const stop = docsBlock('try-whatsapp-stop').replace('12025550111', '12025550112')
  const fail = 'curl -sS -X POST $WHATSAPP/people/12025550112/fail?code=131049\n'
  expect(await shell(fail + stop)).toMatchObject([
    { reported: ['failed'], callback: { status: 200, body: { skipped: 0 } } },
    { wrote: 'STOP', callback: { status: 200, body: { applied: 1 } } },
  ])
  expect(await query(create)).toBe('blocked')
  expect(
    await query(`select m.status, m.error_code from outbox.outbound_message m
      where m.to_recipient = '+12025550112'`),
  ).toBe('FAILED|131049')
})

Deno.test('a call that WhatsApp of this machine does not know is answered with the calls that it knows', async () => {
  const response = await fetch(`${stack.whatsappUrl}/person`)
  expect(response.status).toBe(404)
  expect(await response.text()).toContain('POST /people/<number>/deliver')
  const unknown = await fetch(`${stack.whatsappUrl}/people/12025559999/read`, { method: 'POST' })
  expect(unknown.status).toBe(404)
  expect(await unknown.json()).toMatchObject({
    error: expect.stringContaining('no message to +12025559999'),
  })
})

Deno.test('a token that starts with expired holds the channel', async () => {
  const channel = `(select c.endpoint_id from outbox.whatsapp_channel c)`
  await query(`select outbox.set_channel_token('org-123', ${channel}, 'expired-token')`)
  await query(`select outbox.create_message('org-123', '+12025550113',
    '{"parameters": ["Cy"]}', 'reminder')`)
  const status = (): Promise<string> =>
    query(`select e.status_reason from outbox.endpoint e where e.id = ${channel}`)
  const isHeld = async (): Promise<boolean> => (await status()).startsWith('held: 190')
  expect(await waitUntil(isHeld, { timeoutMs: patienceMs, everyMs: 100 })).toBe(true)
})

Deno.test('the Graph API of the database is the one of before after the stack has stopped', async () => {
  const folder = databaseFolder()
  try {
    await copyPrepared(folder, 'migrations')
    const options: StackOptions = { dataDir: folder, ports: 'free', fsync: false, functions: [] }
    const first = await startStack({ ...options, whatsapp: true })
    const setting =
      `select s.value #>> '{}' from outbox.setting s where s.name = 'whatsapp.graph_url'`
    expect((await first.psql(setting)).stdout).toBe(first.whatsappUrl)
    await first.stop()
    const second = await startStack(options)
    const { stdout } = await second.psql(setting)
    const { whatsappUrl } = second
    await second.stop()
    expect([stdout, whatsappUrl]).toEqual(['https://graph.facebook.com', null])
  } finally {
    await Deno.remove(folder, { recursive: true })
  }
})
