import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import type { PoolOptions } from '../../../../functions/_shared/http1/pools.ts'
import type { Exchange } from '../../../../functions/_shared/transport/transport.ts'
import { selfSigned } from '../../../e2e/receiver/certificate.ts'
import { startReceiver } from '../../../e2e/receiver/receiver.ts'
import { type ConnectProxy, type ProxyCourse, startConnectProxy } from '../../connect_proxy.ts'
import { nextTurn } from '../../next_turn.ts'
import { type MakeTransport, transports } from '../../node_transport.ts'
import { post } from './post.ts'

/** The machine that sends knows no name: only the proxy does. */
const options: PoolOptions = {
  resolve: () => Promise.reject(new Error('asked for a name')),
  ca: selfSigned.cert,
}

type Send = (url: string, timeoutMs?: number) => Promise<Exchange>

async function withProxy(
  make: MakeTransport,
  course: ProxyCourse,
  more: PoolOptions,
  body: (send: Send, proxy: ConnectProxy) => Promise<void>,
): Promise<void> {
  const proxy = startConnectProxy(course)
  const policy = createAddressPolicy({ allowHttp: true, allowCidrs: [], proxyUrl: proxy.url })
  const transport = await make.http1({ ...options, ...more })
  try {
    await body((url, timeoutMs) => post(transport, url, policy, timeoutMs), proxy)
  } finally {
    await transport.close()
    await proxy.close()
    await nextTurn()
  }
}

for (const [runtime, make] of transports) {
  Deno.test(`connections through a proxy are reused, under ${runtime}`, async () => {
    for (const tls of [undefined, selfSigned]) {
      const receiver = startReceiver(tls === undefined ? {} : { tls })
      const port = Number(new URL(receiver.url).port)
      await withProxy(make, { connectTo: port }, {}, async (send, proxy) => {
        const url = `${tls === undefined ? 'http' : 'https'}://receiver.test:8443`
        expect(await send(`${url}/a`)).toMatchObject({ kind: 'response', status: 200 })
        expect(await send(`${url}/b`)).toMatchObject({ kind: 'response', status: 200 })
        expect(proxy.asked).toEqual([{ target: 'receiver.test:8443', authorization: null }])
        expect(receiver.received.map(({ path }) => path)).toEqual(['/a', '/b'])
        expect(receiver.received[0]?.headers['host']).toBe('receiver.test:8443')
      })
      await receiver.close()
      await nextTurn()
    }
  })

  Deno.test(`an IPv6 address is sent to a proxy in brackets, under ${runtime}`, async () => {
    await withProxy(make, { status: 502 }, {}, async (send, proxy) => {
      await send('http://[2606:4700:4700::1111]:8080/')
      expect(proxy.asked.map(({ target }) => target)).toEqual(['[2606:4700:4700::1111]:8080'])
    })
  })

  Deno.test(`the proxy gets its credentials, and the receiver does not, under ${runtime}`, async () => {
    const receiver = startReceiver()
    const port = Number(new URL(receiver.url).port)
    const more = { proxyAuthorization: 'Basic b3V0aG9vazpzZXNhbWU=' }
    await withProxy(make, { connectTo: port }, more, async (send, proxy) => {
      await send('http://receiver.test/')
      expect(proxy.asked).toEqual([
        { target: 'receiver.test:80', authorization: more.proxyAuthorization },
      ])
      expect(JSON.stringify(receiver.received[0]?.headers)).not.toContain('b3V0aG9vazpz')
    })
    await receiver.close()
    await nextTurn()
  })

  Deno.test(`the certificate is checked behind a proxy too, under ${runtime}`, async () => {
    const receiver = startReceiver({ tls: selfSigned })
    const port = Number(new URL(receiver.url).port)
    await withProxy(make, { connectTo: port }, {}, async (send) => {
      expect(await send('https://other.test/')).toMatchObject({ kind: 'fault', errorClass: 'tls' })
    })
    expect(receiver.received).toEqual([])
    await receiver.close()
    await nextTurn()
  })

  Deno.test(`a blocked literal address is never sent to a proxy, under ${runtime}`, async () => {
    await withProxy(make, 'hang', {}, async (send, proxy) => {
      for (const url of ['http://10.0.0.1/', 'http://0x7f.1/', 'https://[::1]/']) {
        expect(await send(url)).toMatchObject({ kind: 'fault', errorClass: 'blocked' })
      }
      expect(proxy.asked).toEqual([])
    })
  })

  Deno.test(`what a proxy refuses is blocked, and what it cannot do a failure to connect, under ${runtime}`, async () => {
    const rows: [ProxyCourse, string][] = [
      [{ status: 403 }, 'blocked'],
      [{ status: 407 }, 'connect'],
      [{ status: 502 }, 'connect'],
      [{ status: 504 }, 'connect'],
      ['hang', 'connect'],
    ]
    for (const [course, errorClass] of rows) {
      const timeoutMs = course === 'hang' ? 300 : 60_000
      await withProxy(make, course, {}, async (send, proxy) => {
        expect([course, await send('https://receiver.test/', timeoutMs)])
          .toMatchObject([course, { kind: 'fault', errorClass }])
        expect(proxy.asked.length).toBe(1)
      })
    }
  })

  Deno.test(`a proxy that is not there is a failure to connect, under ${runtime}`, async () => {
    const gone = startConnectProxy('hang')
    await gone.close()
    const policy = createAddressPolicy({ allowHttp: false, allowCidrs: [], proxyUrl: gone.url })
    const transport = await make.http1(options)
    const exchange = await post(transport, 'https://receiver.test/', policy)
    expect(exchange).toMatchObject({ kind: 'fault', errorClass: 'connect' })
    await transport.close()
    await nextTurn()
  })

  Deno.test(`createFetchTransport() goes nowhere rather than around a proxy, under ${runtime}`, async () => {
    const receiver = startReceiver()
    const policy = createAddressPolicy({
      allowHttp: true,
      allowCidrs: ['127.0.0.0/8'],
      proxyUrl: 'http://127.0.0.1:1',
    })
    const transport = await make.fetch()
    const exchange = await post(transport, receiver.url, policy)
    expect(exchange).toMatchObject({ kind: 'fault', errorClass: 'connect' })
    await transport.close()
    expect(receiver.connections.accepted).toBe(0)
    await receiver.close()
  })
}
