/** The pages' receivers against requests that are signed as ours are, and against forged ones. */

import { Buffer } from 'node:buffer'
import { expect } from '@std/expect'
import { parseSecret, sign } from '../../functions/_shared/signing/sign.ts'
import { startTestPostgres } from '../_support/postgres.ts'
import { type DocsReceiver, makeReceivers } from './_receivers.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const otherSecret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`

interface Post {
  id: string
  body: string
  /** What is signed, when it is not what is sent. */
  signedBody?: string
  secrets?: [string, ...string[]]
  ageSeconds?: number
  headers?: Record<string, string>
}

async function post(port: number, request: Post): Promise<number> {
  const { id, body, signedBody = body, secrets = [secret], ageSeconds = 0, headers } = request
  const [first, ...more] = secrets
  const timestamp = Math.floor(Date.now() / 1000) - ageSeconds
  const { standard } = sign(id, timestamp, Buffer.from(signedBody), [
    parseSecret(first),
    ...more.map(parseSecret),
  ])
  const response = await fetch(`http://127.0.0.1:${port}/webhooks`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': standard,
      ...headers,
    },
    body,
  })
  await response.body?.cancel()
  return response.status
}

function paid(id: number | null, total = 49.9): string {
  return JSON.stringify({ id: 'e', eventType: 'order.paid', data: { id, total, note: 'Grüße' } })
}

async function check({ start }: DocsReceiver): Promise<void> {
  await using receiver = await start({ secret })
  const { port, work } = receiver

  // A good one once, and its repeat, at once and twice at the same time.
  const good = { id: 'e1', body: paid(1) }
  expect(await post(port, good)).toBe(204)
  expect(await post(port, good)).toBe(204)
  const twice = { id: 'e2', body: paid(2) }
  expect(await Promise.all([post(port, twice), post(port, twice)])).toEqual([204, 204])
  expect(await work()).toEqual({ noted: 2, orders: ['1 49.9', '2 49.9'] })

  // Forged ones, each in one respect.
  const forged: Partial<Post>[] = [
    { body: paid(3, 1), signedBody: paid(3) },
    { secrets: [otherSecret] },
    { ageSeconds: 600 },
    { ageSeconds: -600 },
    { headers: { 'webhook-id': 'another' } },
    { headers: { 'webhook-signature': '' } },
    { headers: { 'webhook-signature': 'v1,' } },
    { headers: { 'webhook-timestamp': 'now' } },
    { headers: { 'webhook-timestamp': '²' } },
  ]
  for (const change of forged) {
    expect([change, await post(port, { id: 'e3', body: paid(3), ...change })]).toEqual([
      change,
      401,
    ])
  }
  expect((await work()).noted).toBe(2)

  // The old secret among two during a rotation.
  expect(await post(port, { id: 'e4', body: paid(4), secrets: [otherSecret, secret] })).toBe(204)

  // Work that fails leaves no note, so that the next try does it.
  expect(await post(port, { id: 'e5', body: paid(null) })).toBe(500)
  expect((await work()).noted).toBe(3)
  expect(await post(port, { id: 'e5', body: paid(5) })).toBe(204)

  // A type that it does nothing with.
  expect(await post(port, { id: 'e6', body: '{"eventType":"order.sent","data":{}}' })).toBe(204)
  expect(await work()).toEqual({ noted: 5, orders: ['1 49.9', '2 49.9', '4 49.9', '5 49.9'] })
}

/** What it says when it is started so that it cannot work. */
async function lament(
  { start }: DocsReceiver,
  options: { secret: string; port?: number },
): Promise<string> {
  try {
    await using _ = await start(options)
    return 'It started'
  } catch (error) {
    return String(error)
  }
}

Deno.test("the pages' receivers verify, and do their work once", async (t) => {
  await using pg = await startTestPostgres()
  await using receivers = await makeReceivers(pg)
  for (const receiver of receivers.all) {
    await t.step(receiver.name, () => check(receiver))
    await t.step(`${receiver.name} without a secret says what to set, in one line`, async () => {
      const unfit = ['', 'secret', 'whsec_…', otherSecret.slice(0, -2)]
      const laments = await Promise.all(
        unfit.map(async (none) => [none, await lament(receiver, { secret: none })]),
      )
      for (const [none, said] of laments) {
        expect([none, said]).toEqual([
          none,
          // On a busy machine Deno checks the types of a file again.
          expect.stringMatching(
            /listened: (?:Check receiver\.ts\n)?Set WEBHOOK_SECRET \(.*\).*\n$/,
          ),
        ])
      }
    })
    await t.step(`${receiver.name} says that its port is taken, and ends at Ctrl-C`, async () => {
      await using running = await receiver.start({ secret })
      const { port } = running
      expect(await lament(receiver, { secret, port })).toMatch(/address already in use/i)
      expect(await running.interrupt()).toMatch(/^(?:Check receiver\.ts\n)?Listening on \S+\n$/)
    })
  }
})
