import { expect } from '@std/expect'
import { sleep } from '../../../functions/_shared/base/clock.ts'
import { createPolicySource } from '../../../functions/_shared/connect/address.ts'
import type { DispatchResponse, Outcome } from '../../../functions/_shared/contract/contract.ts'
import { lazySender } from '../../../functions/_shared/senders/lazy.ts'
import { NoRoom } from '../../../functions/_shared/senders/no_room.ts'
import type { Sender } from '../../../functions/_shared/senders/sender.ts'
import { createKeyCache } from '../../../functions/_shared/signing/sign.ts'
import { attemptDelivery, type Batch } from '../../../functions/deliver/attempt.ts'
import { sampleDelivery, sampleEndpoint, sampleEvent, sampleSettings } from '../samples.ts'
import { createFakeClock } from './fake_clock.ts'

const delivery = sampleDelivery()
const key = { event: delivery.event, endpoint: delivery.endpoint, attempt: 1 }
const clock = createFakeClock()

/** A whole response, as far as a test does not say otherwise. */
function batchOf(over: Partial<DispatchResponse> = {}): Batch {
  const settings = sampleSettings()
  return {
    calledAt: 0,
    response: {
      stale: 0,
      routed: 0,
      stop: null,
      deliveries: [delivery],
      events: { [delivery.event]: sampleEvent() },
      endpoints: { [delivery.endpoint]: sampleEndpoint() },
      settings,
      error: null,
      ...over,
    },
    deps: {
      transport: {
        post: () => Promise.reject(new Error('nothing is sent here')),
        close: () => Promise.resolve(),
      },
      keys: createKeyCache(),
      settings,
      policy: createPolicySource()({ allowHttp: true, allowCidrs: [] }),
      wallNow: clock.wallNow,
    },
  }
}

const ready: Sender = { send: () => Promise.resolve({ outcome: 'delivered', status: 204 }) }

Deno.test('attemptDelivery() names the missing part of an attempt', async () => {
  const pigeon = { [delivery.endpoint]: sampleEndpoint({ kind: 'pigeon' }) }
  const read = { endpoint_version: sampleEndpoint().version }
  const rows: [Partial<DispatchResponse>, RegExp, object][] = [
    [{ endpoints: {} }, /no endpoint for this delivery: deploy/, {}],
    [{ events: {} }, /no event for this delivery: deploy/, read],
    [{ endpoints: pigeon }, /^No sender for endpoints of kind pigeon: deploy/, read],
  ]
  const deps = { senders: new Map([['webhook', ready]]), clock, log: () => {} }
  for (const [over, error, more] of rows) {
    expect(await attemptDelivery(deps, delivery, batchOf(over))).toEqual({
      ...key,
      outcome: 'failed',
      error_class: 'protocol',
      error: expect.stringMatching(error),
      duration_ms: 0,
      ...more,
    })
  }
  expect(await attemptDelivery(deps, delivery, batchOf()))
    .toEqual({ ...key, outcome: 'delivered', status: 204, duration_ms: 0, ...read })
})

Deno.test('attemptDelivery() fails the attempt if the sender throws, without the error’s text', async () => {
  const broken: Sender = { send: () => Promise.reject(new TypeError('over whsec_secret')) }
  const logged: unknown[] = []
  const log = (...line: unknown[]): void => void logged.push(line)
  const deps = { senders: new Map([['webhook', broken]]), clock, log }
  const result = await attemptDelivery(deps, delivery, batchOf())
  expect(result).toMatchObject({ ...key, outcome: 'failed', error_class: 'protocol' })
  expect(logged).toEqual([['error', 'sender threw', { ...key, error: 'TypeError' }]])
  expect(JSON.stringify(result)).not.toContain('whsec_')
})

Deno.test('attemptDelivery() releases a delivery whose sender cannot be loaded, and logs it once', async () => {
  const broker = lazySender(() => Promise.reject(new Error('no network')))
  const logged: unknown[] = []
  const log = (...line: unknown[]): void => void logged.push(line)
  const deps = { senders: new Map([['webhook', broker]]), clock, log }
  for (let n = 0; n < 2; n++) {
    expect(await attemptDelivery(deps, delivery, batchOf())).toEqual({
      ...key,
      outcome: 'released',
    })
  }
  expect(logged)
    .toEqual([['error', 'sender unavailable', { kind: 'webhook', error: 'no network' }]])
})

Deno.test('attemptDelivery() releases a delivery that the process has no room for, and says why', async () => {
  const full: Sender = { send: () => Promise.reject(new NoRoom('many other lookups')) }
  const logged: unknown[] = []
  const log = (...line: unknown[]): void => void logged.push(line)
  const deps = { senders: new Map([['webhook', full]]), clock, log }
  expect(await attemptDelivery(deps, delivery, batchOf())).toEqual({ ...key, outcome: 'released' })
  expect(logged).toEqual([['warn', 'no room to send', { ...key, error: 'many other lookups' }]])
})

Deno.test('attemptDelivery() waits until the sender is ready, and does not count the wait', async () => {
  const clock = createFakeClock()
  const order: string[] = []
  const sender: Sender = {
    async ready({ event }, { kind }, { type }): Promise<boolean> {
      order.push(`ready ${event === delivery.event} ${kind} ${type}`)
      await sleep(clock, 250)
      return true
    },
    async send(): Promise<Outcome> {
      order.push(`send after ${clock.now() - begun}`)
      await sleep(clock, 30)
      return { outcome: 'delivered', status: 200 }
    },
  }
  const begun = clock.now()
  const deps = { senders: new Map([['webhook', sender]]), clock, log: () => {} }
  const running = attemptDelivery(deps, delivery, batchOf())
  await clock.advance(1_000)
  expect(await running).toEqual({
    ...key,
    outcome: 'delivered',
    status: 200,
    duration_ms: 30,
    endpoint_version: sampleEndpoint().version,
  })
  expect(order).toEqual(['ready true webhook order.paid', 'send after 250'])
})

Deno.test('attemptDelivery() releases the delivery if its lease is too short once the sender is ready', async () => {
  const clock = createFakeClock()
  const begun = clock.now()
  let sent = 0
  const sender: Sender = {
    ready: async () => {
      await sleep(clock, 250)
      return true
    },
    send: () => {
      sent++
      return Promise.resolve({ outcome: 'delivered', status: 200 })
    },
  }
  const deps = { senders: new Map([['webhook', sender]]), clock, log: () => {} }
  for (const [leftMs, outcome] of [[249, 'released'], [500, 'delivered']] as const) {
    const fits = (): boolean => clock.now() <= begun + leftMs
    const running = attemptDelivery(deps, delivery, batchOf(), fits)
    await clock.advance(250)
    expect(await running).toMatchObject({ ...key, outcome })
  }
  expect(sent).toBe(1)
})

Deno.test('attemptDelivery() releases the delivery if the sender cannot send it for now', async () => {
  const sender: Sender = { ...ready, ready: () => Promise.resolve(false) }
  const deps = { senders: new Map([['webhook', sender]]), clock, log: () => {} }
  expect(await attemptDelivery(deps, delivery, batchOf())).toEqual({ ...key, outcome: 'released' })
})

Deno.test('attemptDelivery() makes a failure of a sender that cannot get ready', async () => {
  const sender: Sender = { ...ready, ready: () => Promise.reject(new RangeError('over a number')) }
  const logged: unknown[] = []
  const log = (...line: unknown[]): void => void logged.push(line)
  const deps = { senders: new Map([['webhook', sender]]), clock, log }
  expect(await attemptDelivery(deps, delivery, batchOf()))
    .toMatchObject({ ...key, outcome: 'failed', error_class: 'protocol' })
  expect(logged).toEqual([['error', 'sender threw', { ...key, error: 'RangeError' }]])
})
