import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../../functions/_shared/connect/address.ts'
import { systemClock } from '../../../../../functions/_shared/base/clock.ts'
import type { Outcome, Settings } from '../../../../../functions/_shared/contract/contract.ts'
import type { Channel } from '../../../../../functions/_shared/senders/whatsapp/outgoing.ts'
import { createWhatsAppSender } from '../../../../../functions/_shared/senders/whatsapp/sender.ts'
import { createKeyCache } from '../../../../../functions/_shared/signing/sign.ts'
import { createFetchTransport } from '../../../../../functions/_shared/transport/fetch.ts'
import type { Transport } from '../../../../../functions/_shared/transport/transport.ts'
import { createHttp1Transport } from '../../../../../functions/_shared/transport/http1.ts'
import { type Graph, startGraph } from '../../../../../supabase/local/whatsapp/graph.ts'
import { createFakeClock } from '../../../deliver/fake_clock.ts'
import { nextTurn } from '../../../next_turn.ts'
import {
  sampleChannel,
  sampleDelivery,
  sampleEndpoint,
  sampleEvent,
  sampleMessage,
  sampleSettings,
} from '../../../samples.ts'

type Over = {
  endpoint?: { timeout_ms: number }
  channel?: Partial<Channel>
  message?: Parameters<typeof sampleMessage>[0]
  settings?: Partial<Settings>
}
type Context = { graph: Graph; send(over?: Over): Promise<Outcome> }

const transports: Record<string, () => Transport> = {
  http1: createHttp1Transport,
  fetch: createFetchTransport,
}

/** Runs a test with each transport against a Graph API of its own. */
function testEach(name: string, body: (context: Context) => Promise<void>): void {
  for (const [transportName, createTransport] of Object.entries(transports)) {
    Deno.test(`${name} (${transportName})`, async () => {
      const graph = startGraph({ numbers: { '100': { token: 'token-100' } } })
      const transport = createTransport()
      try {
        await body({ graph, send: (over) => sendTo(graph.url, transport, over) })
      } finally {
        await transport.close()
        await graph.close()
        await nextTurn()
      }
    })
  }
}

function sendTo(graph_url: string, transport: Transport, over: Over = {}): Promise<Outcome> {
  const settings = sampleSettings(over.settings)
  const channel = sampleChannel({ graph_url, ...over.channel })
  return createWhatsAppSender(systemClock).send(
    sampleDelivery(),
    sampleEndpoint({ kind: 'whatsapp', url: '', channel, ...over.endpoint }),
    sampleEvent({ message: sampleMessage(over.message) }),
    {
      transport,
      keys: createKeyCache(),
      settings,
      policy: createAddressPolicy({
        allowHttp: settings.allow_http,
        allowCidrs: settings.allow_cidrs,
      }),
      wallNow: Date.now,
    },
  )
}

testEach('send() sends a message and gives its wamid', async ({ graph, send }) => {
  const outcome = await send()
  const [taken] = graph.taken
  expect(outcome).toEqual({
    outcome: 'delivered',
    status: 200,
    provider_id: taken?.wamid,
    provider: { wa_id: '12025550111' },
  })
  expect(taken?.number).toBe('100')
  expect(taken?.body).toMatchObject({ biz_opaque_callback_data: 'ob1:7:1', to: '+12025550111' })
})

testEach('send() reports the code of a refusal', async ({ graph, send }) => {
  expect(await send({ channel: { access_token: 'old' } }))
    .toMatchObject({ outcome: 'failed', code: '190', status: 401 })
  expect(await send({ channel: { phone_number_id: '9/../100' } }))
    .toMatchObject({ outcome: 'failed', code: '100', provider: { subcode: 33 } })
  graph.setTurn(() => ({
    kind: 'refuse',
    fault: {
      code: 4,
      headers: [
        'retry-after: 30',
        'x-business-use-case-usage: {"2":[{"estimated_time_to_regain_access":2}]}',
      ],
    },
  }))
  expect(await send()).toMatchObject({
    code: '4',
    retry_after: '120',
    provider: { usage: { 'x-business-use-case-usage': {} } },
  })
  expect(graph.taken).toEqual([])
})

testEach('send() tells an outcome that nobody knows by its class', async ({ graph, send }) => {
  graph.setTurn(() => ({ kind: 'lose' }))
  expect(await send()).toMatchObject({ outcome: 'failed', error_class: 'reset' })
  graph.setTurn(() => ({ kind: 'delay', ms: 5_000 }))
  expect(await send({ endpoint: { timeout_ms: 1_500 } }))
    .toMatchObject({ outcome: 'failed', error_class: 'timeout' })
  graph.setTurn(() => ({ kind: 'gateway', status: 502 }))
  const gateway = await send()
  expect(gateway).toMatchObject({ outcome: 'failed', error_class: 'status', status: 502 })
  expect(gateway).not.toHaveProperty('code')
  expect(graph.taken).toHaveLength(2)
})

testEach('send() keeps to itself what cannot be sent', async ({ graph, send }) => {
  expect(await send({ message: { template: null, payload: { type: 'text', text: '' } } }))
    .toMatchObject({ error_class: 'protocol', code: 'invalid_payload' })
  for (const access_token of ['', 'a b', 'a\r\nx: y', 'ä']) {
    expect(await send({ channel: { access_token } }))
      .toMatchObject({ error_class: 'protocol', code: 'invalid_token' })
  }
  expect(await send({ settings: { allow_cidrs: [] } })).toMatchObject({ error_class: 'blocked' })
  expect(graph.taken).toEqual([])
  expect(graph.refused).toEqual([])
})

testEach('send() says neither the token nor a number in a failure', async ({ graph, send }) => {
  const fault = { code: 131030, details: 'Recipient +12025550111 is not in the list' }
  graph.setTurn(() => ({ kind: 'refuse', fault }))
  const outcomes = [
    await send(),
    await send({ channel: { access_token: 'token 100' } }),
    await send({ channel: { access_token: 'token-101' } }),
    await send({ message: { payload: { parameters: '+12025550111' } } }),
  ]
  for (const outcome of outcomes) {
    expect(outcome.outcome).toBe('failed')
    if (outcome.outcome === 'failed') expect(outcome.error).not.toMatch(/2025550111|token.10/)
    expect(outcome).not.toHaveProperty('response')
  }
})

Deno.test('send() refuses a delivery without a message or channel', async () => {
  const transport = createHttp1Transport()
  const deps = {
    transport,
    keys: createKeyCache(),
    settings: sampleSettings(),
    policy: createAddressPolicy({ allowHttp: true, allowCidrs: [] }),
    wallNow: Date.now,
  }
  const { ready, send } = createWhatsAppSender(systemClock)
  const [channel, message] = [sampleChannel(), sampleMessage()]
  const rows = [
    [{}, {}, 'no channel'],
    [{ channel: { ...channel, spacing_ms: -1 } }, { message }, 'no channel'],
    [{ channel }, {}, 'no message'],
    [{ channel }, { message: { ...message, to: 7 } }, 'no message'],
  ] as const
  for (const [endpoint, event, missing] of rows) {
    const parts = [sampleDelivery(), sampleEndpoint(endpoint), sampleEvent(event)] as const
    await ready?.(...parts)
    expect(await send(...parts, deps))
      .toMatchObject({ code: 'incomplete', error: expect.stringContaining(missing) })
  }
  await transport.close()
})

Deno.test('ready() spaces the messages of a number', async () => {
  const clock = createFakeClock()
  const { ready } = createWhatsAppSender(clock)
  const endpoint = sampleEndpoint({ channel: sampleChannel({ spacing_ms: 12 }) })
  const left: number[] = []
  const all = [0, 0, 100].map(async (wait_ms) => {
    await ready?.(sampleDelivery(), endpoint, sampleEvent({ message: sampleMessage({ wait_ms }) }))
    left.push(clock.now())
  })
  const begun = clock.now()
  await clock.advance(200)
  await Promise.all(all)
  expect(left.map((at) => at - begun)).toEqual([0, 12, 100])
})
