/**
 * Timers are late in a process that gets no CPU time or was stopped. By then the lease of a delivery may
 * have ended, and another run may have sent it.
 */

import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import type { Resolve } from '../../../../functions/_shared/connect/share_lookups.ts'
import { createFetchTransport } from '../../../../functions/_shared/transport/fetch.ts'
import { createHttp1Transport } from '../../../../functions/_shared/transport/http1.ts'
import type { Transport } from '../../../../functions/_shared/transport/transport.ts'
import { startReceiver } from '../../../e2e/receiver/receiver.ts'
import { nextTurn } from '../../next_turn.ts'
import { post } from '../connect/post.ts'

const local = createAddressPolicy({ allowHttp: true, allowCidrs: ['127.0.0.0/8'] })
const timeoutMs = 60_000

type Made = {
  transport: Transport
  /** Ends the lookup of the host name, after `ms` in which no timer has run. */
  resolveAfter(ms: number): void
}

function make(kind: 'http1' | 'fetch'): Made {
  let ahead = 0
  const now = (): number => performance.now() + ahead
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<Resolve>>>()
  const lookup: Resolve = () => promise
  return {
    transport: kind === 'fetch'
      ? createFetchTransport(lookup, now)
      : createHttp1Transport({ resolve: lookup }, now),
    resolveAfter(ms): void {
      ahead = ms
      resolve([{ address: '127.0.0.1', family: 4 }])
    },
  }
}

Deno.test('createHttp1Transport() sends nothing on a connection that opens after the timeout', async () => {
  const receiver = startReceiver()
  const { transport, resolveAfter } = make('http1')
  const url = `http://receiver.test:${new URL(receiver.url).port}/`
  const late = post(transport, url, local, timeoutMs)
  resolveAfter(timeoutMs)
  expect(await late).toMatchObject({ kind: 'fault', errorClass: 'connect', unsent: true })
  // The next request uses this connection, so nothing was written to it.
  expect(await post(transport, url, local, timeoutMs)).toMatchObject({ status: 200 })
  expect([receiver.received.length, receiver.connections.accepted]).toEqual([1, 1])
  await transport.close()
  await receiver.close()
  await nextTurn()
})

Deno.test('createHttp1Transport() sends on a connection that opens just before the timeout', async () => {
  const receiver = startReceiver()
  const { transport, resolveAfter } = make('http1')
  const url = `http://receiver.test:${new URL(receiver.url).port}/`
  const sent = post(transport, url, local, 2 * timeoutMs)
  resolveAfter(timeoutMs)
  expect(await sent).toMatchObject({ status: 200 })
  await transport.close()
  await receiver.close()
  await nextTurn()
})

Deno.test('createFetchTransport() sends nothing after a lookup that ends after the timeout', async () => {
  const receiver = startReceiver()
  const { transport, resolveAfter } = make('fetch')
  // Without the check, fetch would find this host.
  const url = `http://localhost:${new URL(receiver.url).port}/`
  const late = post(transport, url, local, timeoutMs)
  resolveAfter(timeoutMs)
  expect(await late).toMatchObject({ kind: 'fault', errorClass: 'connect' })
  expect(receiver.received).toEqual([])
  await transport.close()
  await receiver.close()
  await nextTurn()
})
