import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../../functions/_shared/connect/address.ts'
import type { Outcome, Settings } from '../../../../../functions/_shared/contract/contract.ts'
import { senders } from '../../../../../functions/_shared/senders/registry.ts'
import { createKeyCache } from '../../../../../functions/_shared/signing/sign.ts'
import { createHttp1Transport } from '../../../../../functions/_shared/transport/http1.ts'
import type { Behaviour } from '../../../../e2e/receiver/behaviours.ts'
import { type Receiver, startReceiver } from '../../../../e2e/receiver/receiver.ts'
import { nextTurn } from '../../../next_turn.ts'
import { sampleDelivery, sampleEndpoint, sampleEvent, sampleSettings } from '../../../samples.ts'

type Over = {
  endpoint?: NonNullable<Parameters<typeof sampleEndpoint>[0]>
  settings?: Partial<Settings>
}
type Context = { receiver: Receiver; send(path: string, over?: Over): Promise<Outcome> }

/** `/answer/404/no_service`: that status with that text, as Slack answers. */
const answer: Behaviour = ({ words: [status = '200', ...words], answer }) =>
  answer(Number(status), words.join('/'))

function testSlack(name: string, body: (context: Context) => Promise<void>): void {
  Deno.test(name, async () => {
    const receiver = startReceiver({ also: { answer } })
    const transport = createHttp1Transport()
    const send = (path: string, over: Over = {}): Promise<Outcome> => {
      const settings = sampleSettings(over.settings)
      const policy = createAddressPolicy({
        allowHttp: settings.allow_http,
        allowCidrs: settings.allow_cidrs,
      })
      const endpoint = sampleEndpoint({
        kind: 'slack',
        url: 'https://hooks.slack.com/…',
        secrets: [],
        // Short where nothing comes; an answer may take its time on a busy machine.
        timeout_ms: /hang|slow/.test(path) ? 400 : 15_000,
        credentials: { url: receiver.url + path },
        ...over.endpoint,
      })
      const sender = senders.get('slack')
      if (sender === undefined) throw new Error('the registry has no slack')
      const deps = { transport, keys: createKeyCache(), settings, policy, wallNow: Date.now }
      return sender.send(sampleDelivery(), endpoint, sampleEvent(), deps)
    }
    try {
      await body({ receiver, send })
    } finally {
      await transport.close()
      await receiver.close()
      await nextTurn()
    }
  })
}

testSlack('send() POSTs a text to the URL of the credentials', async ({ receiver, send }) => {
  const headers = { 'x-team': 'blue' }
  expect(await send('/answer/200/ok', { endpoint: { headers } }))
    .toEqual({ outcome: 'delivered', status: 200, response: 'ok' })
  const [request] = receiver.received
  expect(request?.path).toBe('/answer/200/ok')
  expect(request?.headers).toMatchObject({ 'content-type': 'application/json', 'x-team': 'blue' })
  expect(JSON.parse(new TextDecoder().decode(request?.body)))
    .toEqual({ text: '*order.paid* (`cart-7`)\n```{"amount": 1.10}```' })
})

testSlack('send() gives the word that Slack refuses with as the code', async ({ send }) => {
  const rows: [path: string, code: string | undefined][] = [
    ['/answer/404/no_service', 'no_service'],
    ['/answer/410/channel_is_archived', 'channel_is_archived'],
    ['/answer/400/invalid_payload', 'invalid_payload'],
    ['/answer/500/rollup_error', 'rollup_error'],
    ['/answer/404/', undefined],
    ['/answer/404/Not Found', undefined],
    [`/answer/404/${'a_b'.repeat(30)}`, undefined],
  ]
  for (const [path, code] of rows) {
    const outcome = await send(path)
    const found = outcome.outcome === 'failed' ? outcome.code : 'delivered'
    expect([path, found]).toEqual([path, code])
  }
  expect(await send('/status/429?retry-after=7'))
    .toMatchObject({ outcome: 'failed', status: 429, retry_after: '7' })
})

testSlack('send() sends nothing where it may not, and never shows the URL', async (context) => {
  const { receiver, send } = context
  const rows: [Over, string][] = [
    [{ endpoint: { credentials: null } }, 'protocol'],
    [{ endpoint: { credentials: { url: 7 } } }, 'protocol'],
    [{ endpoint: { headers: { host: 'a' } } }, 'protocol'],
    [{ settings: { allow_cidrs: [] } }, 'blocked'],
    [{ endpoint: { credentials: { url: 'https://u:p@example.com/T0/B0/xyz' } } }, 'blocked'],
    [{ endpoint: { credentials: { url: 'not a url T0/B0/xyz' } } }, 'blocked'],
  ]
  for (const [over, error_class] of rows) {
    const outcome = await send('/T0/B0/xyz', over)
    expect([over, outcome]).toMatchObject([over, { outcome: 'failed', error_class }])
    expect(JSON.stringify(outcome)).not.toContain('xyz')
  }
  expect(receiver.connections.accepted).toBe(0)
})
