/** The commands that call the API, by the packed command against a stack. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs, type TestEndpoint, type TestOuthook } from '../_support/outhook.ts'
import { type ApiShop, startApiShop } from './_support/api_shop.ts'
import type { Ended, Shop } from './_support/shop.ts'

let shop: ApiShop
let project: Shop
let outhook: TestOuthook
let good: TestEndpoint
let bad: TestEndpoint

Deno.test.beforeAll(async () => {
  shop = await startApiShop()
  ;({ project, outhook } = shop)
  good = await outhook.createEndpoint('/good', { p_event_types: ['order.*'] })
  bad = await outhook.createEndpoint('/status/400', { p_event_types: ['order.refused'] })
})
Deno.test.afterAll(() => shop?.stop())

function run(...args: string[]): Promise<Ended> {
  return shop.run(...args)
}

/** Runs a command until its output has this form. */
async function until(pattern: RegExp, ...args: string[]): Promise<string> {
  let last = ''
  const found = await waitUntil(async () => {
    last = (await run(...args)).stdout
    return pattern.test(last)
  }, { timeoutMs: patienceMs })
  if (!found) throw new Error(`${args.join(' ')} printed:\n${last}`)
  return last
}

Deno.test('publish publishes data of the command line or of a file, once for a key', async () => {
  const args = ['publish', 'order.paid', '--data', '{"id": 1}', '--idempotency-key', 'one']
  const first = await run(...args)
  expect([first.code, first.stderr]).toEqual([0, ''])
  const [, id = ''] = /^published ([0-9a-f-]{36})\n$/.exec(first.stdout) ?? []
  const [request] = await outhook.requestsOf(id, 1)
  expect(JSON.parse(new TextDecoder().decode(request?.body)).data).toEqual({ id: 1 })
  expect((await run(...args)).stdout).toBe(`already published ${id}\n`)
  await Deno.writeTextFile(join(project.path, 'order.json'), '{"id": 2}')
  const second = await run('publish', 'order.paid', '--data', '@order.json', '--json')
  expect(JSON.parse(second.stdout)).toMatchObject({ duplicate: false })
})

Deno.test('endpoints lists endpoints as a table or as JSON', async () => {
  const { stdout } = await run('endpoints')
  const [head = '', ...rows] = stdout.trimEnd().split('\n')
  expect(head).toMatch(/^id +status +kind +url +event types$/)
  expect(rows.length).toBe(2)
  expect(rows.find((row) => row.startsWith(good.id)))
    .toMatch(new RegExp(`enabled +webhook +${outhook.receiver.url}/good +order\\.\\*$`))
  const lines = (await run('endpoints', '--json')).stdout.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).id).sort()).toEqual([good.id, bad.id].sort())
  const one = await run('endpoints', '--limit', '1')
  expect([one.stdout.trimEnd().split('\n').length, one.stderr])
    .toEqual([2, 'There are more than 1: add --limit\n'])
  const other = await run('endpoints', '--org', 'another')
  expect([other.code, other.stdout, other.stderr]).toEqual([0, '', 'There are none\n'])
})

Deno.test('deliveries, dead-letters and replay work on a refused delivery', async () => {
  const published = await run('publish', 'order.refused', '--data', '{}')
  const [id = ''] = /[0-9a-f-]{36}/.exec(published.stdout) ?? []
  await until(/dead_letter/, 'deliveries', '--type', 'order.refused', '--endpoint', bad.id)
  const letters = await run('dead-letters', '--json')
  const letter = JSON.parse(letters.stdout)
  expect(letter).toMatchObject({ eventId: id, endpointId: bad.id, eventType: 'order.refused' })
  expect((await run('dead-letters')).stdout).toContain(letter.id)

  const one = await run('replay', letter.id)
  expect([one.code, one.stdout]).toEqual([0, expect.stringContaining(letter.id)])
  await outhook.requestsOf(id, 3)
  const delivery = await run('replay', `${id}.${good.id}`)
  expect([delivery.code, delivery.stderr]).toEqual([0, ''])
  await outhook.requestsOf(id, 4)
  const asked = await run('replay', '--all', '--type', 'order.none')
  expect([asked.code, asked.stdout, asked.stderr]).toEqual([
    3,
    '',
    'Dead letters that fit in the organisation default: 0\nNothing was replayed: confirm it with --yes\n',
  ])
  const jobs = async (): Promise<number> =>
    (await outhook.sql`select from outbox.replay_job`).length
  expect(await jobs()).toBe(0)
  const all = await run('replay', '--all', '--type', 'order.refused', '--yes')
  expect(await jobs()).toBe(1)
  expect([all.code, all.stdout]).toEqual([0, expect.stringMatching(/^replay job \S+ is \w+\n$/)])
})

Deno.test('tail prints each attempt as it happens, and ends after a number of them', async () => {
  await using program = shop.start(['tail', '--type', 'order.sent', '--count', '2'])
  await program.find(/^Attempts of events published since/)
  await run('publish', 'order.sent', '--data', '{}')
  await run('publish', 'order.paid', '--data', '{}')
  const [line] = await program.find(/^\S+ delivered 2\d\d \d+ ms order\.sent \S+/)
  expect(line).toContain(good.id)
  await run('publish', 'order.sent', '--data', '{}')
  expect(await program.ended).toBe(0)
  expect(program.lines.filter((line) => line.includes(' delivered ')).length).toBe(2)
})

Deno.test('trigger publishes a sample of the catalogue, with data of its own', async () => {
  const unknown = await run('trigger', 'order.sent')
  expect([unknown.code, unknown.stderr])
    .toEqual([1, expect.stringMatching(/outhook publish order\.sent/)])
  const schema = {
    type: 'object',
    properties: { id: { type: 'integer', minimum: 5 }, note: { type: 'string' } },
    required: ['id'],
    additionalProperties: false,
  }
  const { error } = await outhook.client.rpc('put_event_type', {
    p_org_id: 'default',
    p_type: 'order.sent',
    p_schema: schema,
  })
  expect(error).toBe(null)
  const dry = await run('trigger', 'order.sent', '--data', '{"note": "x"}', '--dry-run')
  expect(JSON.parse(dry.stdout)).toEqual({ id: 5, note: 'x' })
  const { code, stdout } = await run('trigger', 'order.sent')
  expect(code).toBe(0)
  const [request] = await outhook.requestsOf(/[0-9a-f-]{36}/.exec(stdout)?.[0] ?? '', 1)
  expect(JSON.parse(new TextDecoder().decode(request?.body)).data).toEqual({
    id: 5,
    note: 'sample',
  })
})

Deno.test('the commands print why the API refuses, and refuse wrong options', async () => {
  const rows: [args: string[], code: number, says: RegExp][] = [
    [['publish', 'outhook.mine', '--data', '{}'], 1, /outhook\./],
    [['publish', 'a', '--data', '{'], 2, /not JSON\. Example/],
    [['publish', 'a', '--data', '@none.json'], 2, /cannot be read/],
    [['publish', 'a'], 2, /--data/],
    [['deliveries', '--status', 'odd'], 1, /status/],
    [['endpoints', '--limit', '0'], 2, /whole numbers from 1/],
    [['endpoints', '--function', 'none'], 1, /404/],
    [['replay'], 2, /Give one id, or --all/],
    [['replay', 'x', '--type', 'a'], 2, /Give one id, or --all/],
  ]
  for (const [args, code, says] of rows) {
    const ended = await run(...args)
    expect([args, ended.code, ended.stderr]).toEqual([args, code, expect.stringMatching(says)])
  }
})
