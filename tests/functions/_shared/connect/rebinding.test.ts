import { connect } from 'node:net'
import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import { lookupVetted } from '../../../../functions/_shared/connect/lookup.ts'
import type { Exchange } from '../../../../functions/_shared/transport/transport.ts'
import { startDnsServer, type Zone } from '../../dns_server.ts'
import { nextTurn } from '../../next_turn.ts'
import { type MakeTransport, transports } from '../../node_transport.ts'
import { post } from './post.ts'

// Two addresses of this machine play the parts: one stands for the public Internet and is allowed, one for the inside.
const outside = '127.0.0.2'
const inside = '127.0.0.1'
const policy = createAddressPolicy({ allowHttp: true, allowCidrs: [`${outside}/32`] })

type Listening = { port: number; counts: { outside: number; inside: number } }

/** Listens on one port of both addresses, answers 200, and counts connections. */
async function withListeners(body: (listening: Listening) => Promise<void>): Promise<void> {
  const counts = { outside: 0, inside: 0 }
  const [one, other] = listenOnBoth()
  const serving = [accept(one, 'outside'), accept(other, 'inside')]
  try {
    await body({ port: one.addr.port, counts })
  } finally {
    one.close()
    other.close()
    await Promise.all(serving)
    await nextTurn()
  }

  async function accept(listener: Deno.TcpListener, side: 'outside' | 'inside'): Promise<void> {
    for await (const conn of listener) {
      counts[side]++
      // Each connection answers once and closes, so that every POST looks the name up anew.
      await conn.read(new Uint8Array(4096))
      const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'
      await conn.write(new TextEncoder().encode(answer)).catch(() => {})
      conn.close()
    }
  }
}

function listenOnBoth(): [Deno.TcpListener, Deno.TcpListener] {
  for (let attempts = 0;; attempts++) {
    const one = Deno.listen({ hostname: outside, port: 0 })
    try {
      return [one, Deno.listen({ hostname: inside, port: one.addr.port })]
    } catch (error) {
      one.close()
      // The port may be taken on the other address.
      if (attempts === 20) throw error
    }
  }
}

async function postMany(
  make: MakeTransport,
  zone: Zone,
  port: number,
  count: number,
  scheme = 'http',
): Promise<string[]> {
  const dns = await startDnsServer(zone)
  const transport = await make.http1({ resolve: dns.resolve })
  const seen: string[] = []
  try {
    for (let n = 0; n < count; n++) {
      seen.push(wordOf(await post(transport, `${scheme}://rebind.test:${port}/`, policy)))
    }
  } finally {
    await transport.close()
    await dns.close()
    await nextTurn()
  }
  return seen
}

function wordOf(exchange: Exchange): string {
  return exchange.kind === 'response' ? String(exchange.status) : exchange.errorClass
}

Deno.test('a name that changes deceives who checks first and connects by name', async () => {
  await withListeners(async ({ port, counts }) => {
    const dns = await startDnsServer((_, n) => [n === 1 ? outside : inside])
    await lookupVetted('rebind.test', policy, dns.resolve)
    const [address] = await dns.resolve('rebind.test')
    await new Promise<void>((done) => {
      const socket = connect({ host: address?.address ?? '', port }, () => socket.end('x'))
      socket.resume().on('close', () => done())
    })
    await dns.close()
    expect(counts).toEqual({ outside: 0, inside: 1 })
  })
})

for (const [runtime, make] of transports) {
  Deno.test(`a name that changes between questions never leads inside, under ${runtime}`, async () => {
    await withListeners(async ({ port, counts }) => {
      const zone: Zone = (_, n) => [n % 2 === 1 ? outside : inside]
      const seen = await postMany(make, zone, port, 20)
      expect(new Set(seen)).toEqual(new Set(['200', 'blocked']))
      expect(counts).toEqual({ outside: seen.filter((word) => word === '200').length, inside: 0 })
    })
  })

  Deno.test(`a name that changes never leads TLS inside, under ${runtime}`, async () => {
    await withListeners(async ({ port, counts }) => {
      const zone: Zone = (_, n) => [n % 2 === 1 ? outside : inside]
      const seen = await postMany(make, zone, port, 20, 'https')
      // The listeners do not speak TLS.
      expect(new Set(seen)).toEqual(new Set(['tls', 'blocked']))
      expect(counts).toEqual({ outside: seen.filter((word) => word === 'tls').length, inside: 0 })
    })
  })

  Deno.test(`a name with one address inside among others is refused whole, wherever it stands, under ${runtime}`, async () => {
    await withListeners(async ({ port, counts }) => {
      for (
        const addresses of [[inside, outside], [outside, inside], [outside, '10.0.0.1', outside]]
      ) {
        expect(await postMany(make, () => addresses, port, 2)).toEqual(['blocked', 'blocked'])
      }
      expect(counts).toEqual({ outside: 0, inside: 0 })
    })
  })

  Deno.test(`a name that leads nowhere is a failure of DNS, under ${runtime}`, async () => {
    expect(await postMany(make, () => [], 1, 1)).toEqual(['dns'])
    expect(await postMany(make, () => null, 1, 1)).toEqual(['dns'])
  })
}
