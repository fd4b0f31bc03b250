/**
 * A peer may respond before it has read a large request, and then reset the connection. The kernel decides
 * which of the two arrives first. Each order has one result.
 */
import { Buffer } from 'node:buffer'
import { Duplex } from 'node:stream'
import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import { createDeadlines } from '../../../../functions/_shared/http1/deadlines.ts'
import { Origin } from '../../../../functions/_shared/http1/origin.ts'
import { Attempt } from '../../../../functions/_shared/transport/attempt.ts'
import type { Exchange } from '../../../../functions/_shared/transport/transport.ts'

const local = createAddressPolicy({ allowHttp: true, allowCidrs: ['127.0.0.0/8'] })
const response = 'HTTP/1.1 413 x\r\ncontent-length: 9\r\n\r\ntoo large'
const cut = 'HTTP/1.1 413 x\r\ncontent-length: 9\r\n\r\ntoo'

/** A connection whose peer never reads: writes stay unfinished until `fail` resets it. */
class Unread extends Duplex {
  override _read(): void {}
  override _write(): void {}
  fail(): void {
    this.destroy(Object.assign(new Error('reset by peer'), { code: 'ECONNRESET' }))
  }
}

/** Sends one request on a connection, to which `happen` does the rest. */
async function exchangeOn(happen: (stream: Unread) => void): Promise<[Exchange, Unread]> {
  const stream = new Unread()
  const deadlines = createDeadlines()
  let connected = (): void => {}
  const origin = new Origin({
    to: { hostname: 'x.test', port: 1, tls: false },
    connect: (_to, _timeoutMs, settle) => {
      connected = () => settle(stream)
      return () => {}
    },
    maxConnections: 1,
    keepMs: 60_000,
    deadlines,
    idle: new Set(),
    onCount: () => {},
    onEmpty: () => {},
  })
  const url = new URL('http://x.test:1/')
  const body = Buffer.alloc(250_000, 'x')
  const exchange = await new Promise<Exchange>((resolve) => {
    const limits = { timeoutMs: 60_000, successBytes: 256, failureBytes: 256 }
    origin.request(
      new Attempt(
        { endpoint: 'e1', isRepeatable: true, url, headers: [], body, ...limits, policy: local },
        [body],
        { origin, keepMs: 60_000, deadlines, now: () => performance.now(), resolve },
      ),
    )
    connected()
    happen(stream)
  })
  origin.close()
  deadlines.close()
  return [exchange, stream]
}

Deno.test('a response that arrives before the reset counts, and its connection is closed', async () => {
  const [exchange, stream] = await exchangeOn((stream) => {
    stream.push(response)
    stream.once('data', () => stream.fail())
  })
  expect(exchange).toMatchObject({ kind: 'response', status: 413, cut: false })
  expect(stream.destroyed).toBe(true)
})

Deno.test('a response whose body is cut by the reset counts by its status, and is cut', async () => {
  const [exchange] = await exchangeOn((stream) => {
    stream.push(cut)
    stream.once('data', () => stream.fail())
  })
  expect(exchange).toMatchObject({ kind: 'response', status: 413, cut: true })
})

Deno.test('a reset that arrives before the response is a fault of class reset', async () => {
  const [exchange] = await exchangeOn((stream) => stream.fail())
  expect(exchange).toMatchObject({ kind: 'fault', errorClass: 'reset' })
  expect(exchange).not.toHaveProperty('unsent')
})
