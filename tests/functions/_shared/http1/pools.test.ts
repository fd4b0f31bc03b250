import { Buffer } from 'node:buffer'
import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import { createPools, type PoolOptions } from '../../../../functions/_shared/http1/pools.ts'
import { createDeadlines } from '../../../../functions/_shared/http1/deadlines.ts'
import type { Transport } from '../../../../functions/_shared/transport/transport.ts'
import { createHttp1Transport } from '../../../../functions/_shared/transport/http1.ts'
import { patienceMs } from '../../../_support/patience.ts'
import { waitUntil } from '../../../../supabase/local/process/wait.ts'
import { selfSigned } from '../../../e2e/receiver/certificate.ts'
import { type Receiver, startReceiver } from '../../../e2e/receiver/receiver.ts'
import { nextTurn } from '../../next_turn.ts'
import { post } from '../connect/post.ts'

const strict = createAddressPolicy({ allowHttp: true, allowCidrs: [] })
const local = createAddressPolicy({ allowHttp: true, allowCidrs: ['127.0.0.0/8'] })

async function withTransport(
  options: PoolOptions,
  receivers: Receiver[],
  body: (transport: Transport) => Promise<void>,
): Promise<void> {
  const transport = createHttp1Transport(options)
  try {
    await body(transport)
  } finally {
    await transport.close()
    for (const receiver of receivers) await receiver.close()
    await nextTurn()
  }
}

function resolveToLoopback(): Promise<{ address: string; family: number }[]> {
  return Promise.resolve([{ address: '127.0.0.1', family: 4 }])
}

Deno.test('createHttp1Transport() speaks TLS with the vetted address under the name of the URL', async () => {
  const receiver = startReceiver({ tls: selfSigned })
  const url = `https://receiver.test:${new URL(receiver.url).port}/`
  const options = { resolve: resolveToLoopback, ca: selfSigned.cert }
  await withTransport(options, [receiver], async (transport) => {
    expect(await post(transport, url, local)).toMatchObject({ kind: 'response', status: 200 })
    expect(receiver.received[0]?.headers['host']).toBe(new URL(url).host)
  })
})

Deno.test('createHttp1Transport() reports class tls for an untrusted certificate, or one of another name', async () => {
  const receiver = startReceiver({ tls: selfSigned })
  const { port } = new URL(receiver.url)
  await withTransport({ resolve: resolveToLoopback }, [], async (transport) => {
    expect(await post(transport, `https://receiver.test:${port}/`, local))
      .toMatchObject({ kind: 'fault', errorClass: 'tls' })
  })
  const options = { resolve: resolveToLoopback, ca: selfSigned.cert }
  await withTransport(options, [receiver], async (transport) => {
    expect(await post(transport, `https://other.test:${port}/`, local))
      .toMatchObject({ kind: 'fault', errorClass: 'tls' })
    expect(receiver.received).toEqual([])
  })
})

Deno.test('createHttp1Transport() reuses a connection until the policy changes', async () => {
  const receiver = startReceiver()
  await withTransport({}, [receiver], async (transport) => {
    await post(transport, `${receiver.url}/a`, local)
    await post(transport, `${receiver.url}/big/2000`, local)
    await post(transport, `${receiver.url}/b`, local)
    expect(receiver.connections.accepted).toBe(1)
    const refused = await post(transport, `${receiver.url}/c`, strict)
    expect(refused).toMatchObject({ kind: 'fault', errorClass: 'blocked' })
    await post(transport, `${receiver.url}/d`, local)
    expect(receiver.connections.accepted).toBe(2)
  })
})

const ANSWER = new TextEncoder().encode('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')

/** A server of raw connections, each of which the next of `deeds` serves. */
async function withServer(
  deeds: ((conn: Deno.TcpConn) => Promise<void>)[],
  body: (url: string, served: Promise<void>[]) => Promise<void>,
): Promise<void> {
  const listener = Deno.listen({ port: 0, hostname: '127.0.0.1' })
  const served = deeds.map(() => Promise.withResolvers<void>())
  const serving = (async () => {
    for (const [at, deed] of deeds.entries()) {
      using conn = await listener.accept()
      await deed(conn)
      served[at]?.resolve()
    }
  })()
  try {
    await body(`http://127.0.0.1:${listener.addr.port}`, served.map(({ promise }) => promise))
    await serving
  } finally {
    listener.close()
  }
}

/** Reads one request, which comes in one piece, or the end of the connection. */
async function read(conn: Deno.TcpConn): Promise<number | null> {
  return await conn.read(new Uint8Array(16_384))
}

async function answerOne(conn: Deno.TcpConn): Promise<void> {
  await read(conn)
  await conn.write(ANSWER)
}

Deno.test('createHttp1Transport() opens another connection after the unused one has closed', async () => {
  const transport = createHttp1Transport({})
  await withServer([
    async (conn) => {
      await answerOne(conn)
      await conn.closeWrite()
      // The client has seen that, and has closed its side.
      expect(await read(conn)).toBe(null)
    },
    answerOne,
  ], async (url, [closed]) => {
    expect(await post(transport, url, local)).toMatchObject({ kind: 'response', status: 200 })
    await closed
    expect(await post(transport, url, local)).toMatchObject({ kind: 'response', status: 200 })
  })
  await transport.close()
  await nextTurn()
})

Deno.test('createPools() closes the longest unused connections beyond its bound', async () => {
  const receivers = Array.from({ length: 5 }, () => startReceiver())
  await withTransport({ maxSockets: 2, keepAliveMs: 60_000 }, receivers, async (transport) => {
    for (const { url } of receivers) await post(transport, url, local)
    // The newest is alive still: it is used again.
    await post(transport, receivers[4]?.url ?? '', local)
    expect(receivers[4]?.connections).toEqual({ accepted: 1, open: 1 })
    await post(transport, receivers[0]?.url ?? '', local)
    expect(receivers[0]?.connections.accepted).toBe(2)
  })
})

Deno.test('createPools() has at most its limit of open connections', async () => {
  const receivers = Array.from({ length: 4 }, () => startReceiver())
  await withTransport({ maxSockets: 2, keepAliveMs: 60_000 }, receivers, async (transport) => {
    for (const { url } of receivers) await post(transport, url, local)
    const open = (): number => receivers.reduce((sum, { connections }) => sum + connections.open, 0)
    expect(await waitUntil(() => open() === 2, { timeoutMs: patienceMs })).toBe(true)
  })
})

Deno.test('createPools() closes unused connections when the policy changes', async () => {
  const receiver = startReceiver()
  await withTransport({ keepAliveMs: 60_000 }, [receiver], async (transport) => {
    await post(transport, receiver.url, local)
    expect(receiver.connections.open).toBe(1)
    await post(transport, receiver.url, strict)
    expect(await waitUntil(() => receiver.connections.open === 0, { timeoutMs: patienceMs })).toBe(
      true,
    )
  })
})

Deno.test('createPools() separates connections with and without TLS, and those of two endpoints', () => {
  const deadlines = createDeadlines()
  const pools = createPools(deadlines)
  const plain = pools.of('e1', new URL('http://x.test/'), local)
  expect(pools.of('e1', new URL('https://x.test/'), local)).not.toBe(plain)
  expect(pools.of('e1', new URL('http://x.test/other'), local)).toBe(plain)
  expect(pools.of('e2', new URL('http://x.test/'), local)).not.toBe(plain)
  pools.close()
  deadlines.close()
})

Deno.test('createPools() forgets an endpoint that never connected, and one whose connections have closed', async () => {
  const deadlines = createDeadlines()
  const refuse = (): Promise<never> => Promise.reject(new Error('no such name'))
  const pools = createPools(deadlines, { resolve: refuse })
  const refusals = Array.from({ length: 20 }, (_, n) =>
    new Promise((resolve) => {
      const origin = pools.of(`e${n}`, new URL(`https://host-${n}.test/`), local)
      origin.request({
        isSettled: false,
        needsFresh: false,
        waitsSince: 0,
        timeoutMs: 5_000,
        onConnection: resolve,
        onRefusal: resolve,
      })
    }))
  expect(pools.size).toBe(20)
  await Promise.all(refusals)
  expect(await waitUntil(() => pools.size === 0, { timeoutMs: patienceMs })).toBe(true)
  pools.close()
  deadlines.close()
})

Deno.test('createHttp1Transport() leaves a connection a second before its peer does', async () => {
  const receiver = startReceiver({
    also: {
      keeps: ({ words, answer }) => answer(200, 'ok', [`keep-alive: timeout=${words[0]}`]),
    },
  })
  await withTransport({ keepAliveMs: 60_000 }, [receiver], async (transport) => {
    await post(transport, `${receiver.url}/keeps/60`, local)
    await post(transport, `${receiver.url}/keeps/1`, local)
    expect(receiver.connections.accepted).toBe(1)
    await post(transport, receiver.url, local)
    expect(receiver.connections.accepted).toBe(2)
  })
})

Deno.test('createHttp1Transport() opens no socket to a literal address that is not allowed', async () => {
  const receiver = startReceiver()
  await withTransport({}, [receiver], async (transport) => {
    expect(await post(transport, receiver.url, strict))
      .toMatchObject({ kind: 'fault', errorClass: 'blocked' })
    expect(receiver.connections.accepted).toBe(0)
  })
})

Deno.test('createHttp1Transport() never sends a request whose deadline passed while it was connecting', async () => {
  const receiver = startReceiver()
  const { port } = new URL(receiver.url)
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const resolve = async (): Promise<{ address: string; family: number }[]> => {
    await promise
    return [{ address: '127.0.0.1', family: 4 }]
  }
  await withTransport({ resolve }, [receiver], async (transport) => {
    const late = await post(transport, `http://slow.test:${port}/late`, local, 100)
    expect(late).toMatchObject({ kind: 'fault', errorClass: 'connect' })
    release()
    await post(transport, `http://slow.test:${port}/next`, local)
    expect(receiver.received.map(({ path }) => path)).toEqual(['/next'])
  })
})

Deno.test('createHttp1Transport() allows a connect as long as the request, and then reports class connect', async () => {
  const resolve = (): Promise<never> => new Promise(() => {})
  await withTransport({ resolve }, [], async (transport) => {
    expect(await post(transport, 'http://never.test/', local, 50)).toEqual({
      kind: 'fault',
      errorClass: 'connect',
      message: 'The connection was not open in time: DNS, TCP and TLS took too long',
      unsent: true,
    })
  })
})

Deno.test('createHttp1Transport() uses no connection again that still has a body to send', async () => {
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const open: Deno.Conn[] = []
  const accepting = (async () => {
    for await (const conn of listener) {
      open.push(conn)
      await conn.read(new Uint8Array(1_000))
      await conn.write(new TextEncoder().encode('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
    }
  })()
  await withTransport({ keepAliveMs: 60_000 }, [], async (transport) => {
    // More than the buffers between the two take while nobody reads.
    const body = Buffer.alloc(32 * 1024 * 1024)
    const limits = { timeoutMs: 10_000, successBytes: 256, failureBytes: 256 }
    const url = new URL(`http://127.0.0.1:${listener.addr.port}/`)
    const first = await transport.post({
      ...{ endpoint: 'e1', isRepeatable: true, url, headers: [], body, ...limits, policy: local },
    })
    expect(first).toMatchObject({ kind: 'response', status: 200 })
    expect(await post(transport, url.href, local)).toMatchObject({ kind: 'response', status: 200 })
    expect(open.length).toBe(2)
  })
  listener.close()
  for (const conn of open) conn.close()
  await accepting
})
