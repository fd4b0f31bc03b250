import { expect } from '@std/expect'
import { Webhook } from 'standardwebhooks'
import { createHttpHandler } from '../../consumer/http_handler.ts'
import type { Handled } from '../../consumer/message.ts'
import { type Receiver, startReceiver } from '../e2e/receiver/receiver.ts'
import { sampleMessage } from './samples.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

async function withReceiver(
  body: (receiver: Receiver, post: (path: string) => Promise<Handled>) => Promise<void>,
): Promise<void> {
  const receiver = startReceiver()
  try {
    await body(receiver, (path) => {
      const url = receiver.url + path
      // Where an answer comes, it may take its time.
      const timeoutMs = path === '/hang' ? 300 : 60_000
      return createHttpHandler({ url, timeoutMs, secret, wallNow: Date.now })(
        sampleMessage({ traceparent: 'trace' }),
        2,
      )
    })
  } finally {
    await receiver.close()
  }
}

Deno.test('createHttpHandler() POSTs the message, signed as a webhook is', async () => {
  await withReceiver(async (receiver, post) => {
    expect(await post('/hook')).toEqual({ kind: 'done' })
    const [request] = receiver.received
    if (request === undefined) throw new Error('nothing came')
    new Webhook(secret).verify(new TextDecoder().decode(request.body), request.headers)
    expect(request.headers).toMatchObject({
      'webhook-id': sampleMessage().id,
      'x-event-type': 'order.paid',
      'x-correlation-id': 'cart-7',
      'x-attempt': '2',
      traceparent: 'trace',
    })
  })
})

Deno.test('createHttpHandler() tells what may pass from what will not', async () => {
  await withReceiver(async (receiver, post) => {
    const rows: [path: string, error: RegExp, isFinal: boolean][] = [
      ['/status/500', /responded with 500/, false],
      ['/status/429', /responded with 429/, false],
      ['/status/408', /responded with 408/, false],
      ['/status/301', /responded with 301/, false],
      ['/status/307?location=/followed', /responded with 307/, false],
      ['/status/400', /responded with 400/, true],
      ['/status/404', /responded with 404/, true],
      ['/hang', /No response/, false],
      ['/reset', /No response/, false],
    ]
    for (const [path, error, isFinal] of rows) {
      expect([path, await post(path)])
        .toEqual([path, { kind: 'failed', error: expect.stringMatching(error), isFinal }])
    }
    expect(receiver.received.length).toBeGreaterThanOrEqual(rows.length)
    expect(receiver.received.map(({ path }) => path)).not.toContain('/followed')
  })
})
