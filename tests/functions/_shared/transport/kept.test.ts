/** What becomes of a request on a connection that was used before, when the server closes it. */

import { expect } from '@std/expect'
import { Buffer } from 'node:buffer'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import type { Exchange, PostRequest } from '../../../../functions/_shared/transport/transport.ts'
import { createHttp1Transport } from '../../../../functions/_shared/transport/http1.ts'
import { nextTurn } from '../../next_turn.ts'
import { okResponse, type RawConn, type RawServer, startRawServer } from '../../raw_server.ts'
import { post } from '../connect/post.ts'

const local = createAddressPolicy({ allowHttp: true, allowCidrs: ['127.0.0.0/8'] })

type Send = (path: string, more?: Partial<PostRequest>) => Promise<Exchange>

async function withServer(
  serve: (one: RawConn) => Promise<void>,
  body: (send: Send, server: RawServer) => Promise<void>,
): Promise<void> {
  const transport = createHttp1Transport({ keepAliveMs: 60_000 })
  const server = startRawServer(serve)
  try {
    await body(
      (path, more) => post(transport, server.url + path, local, 60_000, more),
      server,
    )
  } finally {
    await transport.close()
    await server[Symbol.asyncDispose]()
    await nextTurn()
  }
}

/** Answers the first request of a connection; `then` has the second one. */
function afterOne(then: (one: RawConn) => Promise<void>): (one: RawConn) => Promise<void> {
  return async (one) => {
    await one.request()
    await one.write(okResponse)
    if (await one.request() !== null) await then(one)
  }
}

/** Closes with a reset: the peer gets an error and no end. */
function reset({ conn }: RawConn): void {
  // Unread bytes make the kernel send RST.
  conn.close()
}

const delivered = { kind: 'response', status: 200 }

Deno.test('a request that a used connection ends without a byte is sent again on a fresh one', async () => {
  await withServer(afterOne(async () => {}), async (send, server) => {
    expect(await send('/1')).not.toHaveProperty('resent')
    expect(await send('/2')).toMatchObject({ ...delivered, resent: true })
    expect(server.received).toEqual([[1, '/1'], [1, '/2'], [2, '/2']])
    // The fresh connection serves the next request too.
    expect(await send('/3')).toMatchObject({ ...delivered, resent: true })
    expect(server.received.slice(3)).toEqual([[2, '/3'], [3, '/3']])
  })
})

Deno.test('a request that a used connection resets before it reads it is sent again', async () => {
  const serve = async (one: RawConn): Promise<void> => {
    await one.request()
    await one.write(okResponse)
    // The request of 200 kB waits in the socket, so the close is a reset.
    await one.conn.read(new Uint8Array(1))
    if (one.nth === 1) reset(one)
    else await one.closed()
  }
  await withServer(serve, async (send, server) => {
    await send('/1')
    const body = Buffer.alloc(200_000, 'x')
    const again = send('/2', { body })
    await nextTurn()
    expect(await again).toMatchObject({ ...delivered, resent: true })
    expect(server.accepted).toBe(2)
  })
})

Deno.test('a request is sent again once, and the second failure is the failure of the attempt', async () => {
  const serve = async (one: RawConn): Promise<void> => {
    await one.request()
    if (one.nth > 1) return
    await one.write(okResponse)
    await one.request()
  }
  await withServer(serve, async (send, server) => {
    await send('/1')
    expect(await send('/2')).toEqual({
      kind: 'fault',
      errorClass: 'reset',
      message: 'The connection was closed before the response',
      resent: true,
    })
    expect(server.received).toEqual([[1, '/1'], [1, '/2'], [2, '/2']])
  })
})

Deno.test('a request is not sent again if its first connection was new', async () => {
  await withServer(async (one) => void await one.request(), async (send, server) => {
    const exchange = await send('/1')
    expect(exchange).toMatchObject({ kind: 'fault', errorClass: 'reset' })
    expect(exchange).not.toHaveProperty('resent')
    expect(server.received).toEqual([[1, '/1']])
  })
})

Deno.test('a request is not sent again if its sender does not allow it', async () => {
  await withServer(afterOne(async () => {}), async (send, server) => {
    await send('/1')
    expect(await send('/2', { isRepeatable: false }))
      .toMatchObject({ kind: 'fault', errorClass: 'reset' })
    expect(server.received).toEqual([[1, '/1'], [1, '/2']])
  })
})

for (const first of ['H', 'HTTP/1.1 200 OK\r\n', 'HTTP/1.1 100 Continue\r\n\r\n', '\r\n']) {
  Deno.test(`a request is not sent again after the bytes ${JSON.stringify(first)}`, async () => {
    await withServer(afterOne((one) => one.write(first)), async (send, server) => {
      await send('/1')
      expect(await send('/2')).toMatchObject({ kind: 'fault', errorClass: 'reset' })
      expect(server.received).toEqual([[1, '/1'], [1, '/2']])
    })
  })
}

Deno.test('a request that is sent again ends at the deadline of its attempt', async () => {
  const serve = async (one: RawConn): Promise<void> => {
    await one.request()
    if (one.nth === 1) {
      await one.write(okResponse)
      await one.request()
    } else await one.closed()
  }
  await withServer(serve, async (send, server) => {
    await send('/1')
    const startedAt = performance.now()
    expect(await send('/2', { timeoutMs: 300 })).toMatchObject({
      kind: 'fault',
      errorClass: 'timeout',
      resent: true,
    })
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(300)
    expect(server.accepted).toBe(2)
  })
})

Deno.test('a request is not sent again after its deadline', async () => {
  let ahead = 0
  const transport = createHttp1Transport(
    { keepAliveMs: 60_000 },
    () => performance.now() + ahead,
  )
  await using server = startRawServer(afterOne(() => {
    ahead = 60_000
    return Promise.resolve()
  }))
  await post(transport, `${server.url}/1`, local, 60_000)
  expect(await post(transport, `${server.url}/2`, local, 60_000)).toMatchObject({
    kind: 'fault',
    errorClass: 'connect',
  })
  expect(server.received).toEqual([[1, '/1'], [1, '/2']])
  await transport.close()
})

Deno.test('a request that waits for a connection is not sent again on one that others have used', async () => {
  // Both connections are used before; the first one closes over its second request.
  const released = Promise.withResolvers<void>()
  const serve = async (one: RawConn): Promise<void> => {
    for (;;) {
      const path = await one.request()
      if (path === null || (path === '/stale' && one.nth < 3)) return
      if (path === '/both') await released.promise
      await one.write(okResponse)
    }
  }
  const transport = createHttp1Transport({ keepAliveMs: 60_000, maxPerOrigin: 2 })
  await using server = startRawServer(serve)
  const both = [1, 2].map(() => post(transport, `${server.url}/both`, local, 60_000))
  released.resolve()
  await Promise.all(both)
  expect(await post(transport, `${server.url}/stale`, local, 60_000))
    .toMatchObject({ ...delivered, resent: true })
  expect(server.received.slice(2).map(([nth]) => nth > 2)).toEqual([false, true])
  await transport.close()
})

Deno.test('a transport that closes sends nothing again', async () => {
  const got = Promise.withResolvers<void>()
  const transport = createHttp1Transport({ keepAliveMs: 60_000 })
  await using server = startRawServer(afterOne(async (one) => {
    got.resolve()
    await one.closed()
  }))
  await post(transport, `${server.url}/1`, local, 60_000)
  const second = post(transport, `${server.url}/2`, local, 60_000)
  await got.promise
  await transport.close()
  expect(await second).toMatchObject({ kind: 'fault', errorClass: 'reset' })
  await nextTurn()
  expect(server.accepted).toBe(1)
})

Deno.test('400 deliveries to a server that closes a millisecond after each response all arrive', async () => {
  const serve = async (one: RawConn): Promise<void> => {
    if (await one.request() === null) return
    await one.write(okResponse)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await withServer(serve, async (send) => {
    const outcomes = new Set<string>()
    for (let n = 0; n < 400; n++) {
      const exchange = await send(`/${n}`)
      outcomes.add(exchange.kind === 'fault' ? exchange.errorClass : String(exchange.status))
    }
    expect([...outcomes]).toEqual(['200'])
  })
})

Deno.test('an unused connection that gets unexpected bytes is not used again', async () => {
  const late = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  const serve = async (one: RawConn): Promise<void> => {
    await one.request()
    await one.write(okResponse)
    if (one.nth === 1) {
      await late.promise
      await one.write('HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n')
    }
    await one.closed()
    left.resolve()
  }
  await withServer(serve, async (send, server) => {
    await send('/1')
    late.resolve()
    await left.promise
    expect(await send('/2')).toMatchObject({ status: 200 })
    expect(server.accepted).toBe(2)
  })
})

Deno.test('a connection of requests that may not be sent again is closed after 1.5 s, the others are kept', async () => {
  const closedAfter = new Map<string, number>()
  const isClosed = Promise.withResolvers<void>()
  const transport = createHttp1Transport()
  await using server = startRawServer(async (one) => {
    const path = await one.request() ?? ''
    await one.write(okResponse)
    const answeredAt = performance.now()
    await one.closed()
    closedAfter.set(path, performance.now() - answeredAt)
    isClosed.resolve()
  })
  await post(transport, `${server.url}/again`, local, 60_000)
  await post(transport, `${server.url}/once`, local, 60_000, {
    endpoint: 'e2',
    isRepeatable: false,
  })
  await isClosed.promise
  expect([...closedAfter.keys()]).toEqual(['/once'])
  expect(closedAfter.get('/once')).toBeGreaterThanOrEqual(1_450)
  await transport.close()
})
