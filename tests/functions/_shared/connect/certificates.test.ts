/** What the owner of an endpoint reads about its certificate, directly and through a proxy. */

import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import type { Exchange } from '../../../../functions/_shared/transport/transport.ts'
import {
  type Certificate,
  commonNameOnly,
  expired,
  notYetValid,
  root,
  selfSigned,
  signedByRoot,
  untrusted,
  wrongName,
} from '../../../e2e/receiver/certificate.ts'
import { type RawBehaviour, rawBehaviours, startRaw } from '../../../e2e/receiver/raw.ts'
import { startReceiver } from '../../../e2e/receiver/receiver.ts'
import { startConnectProxy } from '../../connect_proxy.ts'
import { nextTurn } from '../../next_turn.ts'
import { type MakeTransport, transports } from '../../node_transport.ts'
import { post } from './post.ts'

const trusted = [selfSigned, wrongName, expired, notYetValid, commonNameOnly]
const known = trusted.map(({ cert }) => cert).join('\n')

/** Posts to a server with this certificate, directly and through a proxy. */
async function postBothWays(
  make: MakeTransport,
  tls: Certificate,
  ca?: string,
): Promise<Exchange[]> {
  const receiver = startReceiver({ tls })
  const port = Number(new URL(receiver.url).port)
  const proxy = startConnectProxy({ connectTo: port })
  const resolve = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }])
  const exchanges: Exchange[] = []
  for (const proxyUrl of ['', proxy.url]) {
    const rules = { allowHttp: true, allowCidrs: ['127.0.0.0/8'], proxyUrl }
    const transport = await make.http1({ resolve, ...(ca === undefined ? {} : { ca }) })
    const url = `https://receiver.test:${port}/`
    exchanges.push(await post(transport, url, createAddressPolicy(rules)))
    await transport.close()
  }
  const delivered = exchanges.filter(({ kind }) => kind === 'response').length
  expect(receiver.received.length).toBe(delivered)
  await proxy.close()
  await receiver.close()
  await nextTurn()
  return exchanges
}

const notTrusted =
  'The certificate is not trusted: no public authority signed it, or the intermediate certificates are missing'
const otherName = 'The certificate is for another host name: get one for the name in the URL'

const rows: [what: string, tls: Certificate, ca: string | undefined, message: string][] = [
  ['expired', expired, known, 'The certificate has expired: renew it'],
  ['expired and of an unknown issuer', expired, undefined, 'The certificate has expired: renew it'],
  ['not yet valid', notYetValid, known, 'The certificate is not valid yet: check its dates'],
  ['for another name', wrongName, known, otherName],
  ['with only a common name', commonNameOnly, known, otherName],
  ['self-signed', untrusted, undefined, notTrusted],
  ['of an unknown issuer', signedByRoot, known, notTrusted],
]

/** What Node says otherwise: OpenSSL tells a self-signed certificate apart, and has one code for other causes. */
const selfSignedText = 'The certificate is self-signed: get one from a public authority'
const underNode = new Map([
  ['with only a common name', selfSignedText],
  ['self-signed', selfSignedText],
  [
    'of an unknown issuer',
    'The certificate is not trusted: it has expired, no public authority signed it, or the intermediate certificates are missing',
  ],
])

/** A TCP relay that ends the connection, without the end of TLS, once the server has sent `bytes`. */
function startCutter(port: number, bytes: number): { port: number; close(): void } {
  return startRaw(async (client) => {
    using server = await Deno.connect({ hostname: '127.0.0.1', port })
    const up = client.readable.pipeTo(server.writable, { preventCancel: true }).catch(() => {})
    let left = bytes
    const buffer = new Uint8Array(16_384)
    for (let size = 0; left > 0; left -= size) {
      size = await server.read(buffer) ?? left
      await client.write(buffer.subarray(0, size))
    }
    // FIN, and no reset.
    await client.closeWrite()
    await up
  })
}

for (const [runtime, make] of transports) {
  for (const [what, tls, ca, message] of rows) {
    Deno.test(`a certificate is refused under ${runtime}, and the message says why: ${what}`, async () => {
      const said = runtime === 'Node' ? underNode.get(what) ?? message : message
      const fault = { kind: 'fault', errorClass: 'tls', message: said, unsent: true }
      expect(await postBothWays(make, tls, ca)).toEqual([fault, fault])
    })
  }

  Deno.test(`a certificate is accepted that itself or its issuer is trusted, under ${runtime}`, async () => {
    for (const [tls, ca] of [[selfSigned, known], [signedByRoot, root]] as const) {
      const response = expect.objectContaining({ kind: 'response', status: 200 })
      expect(await postBothWays(make, tls, ca)).toEqual([response, response])
    }
  })

  Deno.test(`the name of an address is checked too, under ${runtime}`, async () => {
    const receiver = startReceiver({ tls: selfSigned })
    const rules = { allowHttp: true, allowCidrs: ['127.0.0.0/8'] }
    const transport = await make.http1({ ca: known })
    const port = new URL(receiver.url).port
    const policy = createAddressPolicy(rules)
    expect(await post(transport, `https://127.0.0.1:${port}/`, policy))
      .toMatchObject({ kind: 'response', status: 200 })
    await transport.close()
    await receiver.close()
    await nextTurn()
  })

  Deno.test(`a handshake that fails says why, under ${runtime}`, async () => {
    const plain = async (conn: Deno.Conn): Promise<void> => {
      await conn.read(new Uint8Array(4_096))
      await conn.write(new TextEncoder().encode('HTTP/1.1 400 Bad Request\r\n\r\n'))
      while (await conn.read(new Uint8Array(4_096)) !== null);
    }
    const rows: [RawBehaviour, string, RegExp][] = [
      [rawBehaviours['tls-1.0'], 'tls', /only an old version of TLS/],
      [rawBehaviours['tls-alert'], 'tls', /no common cipher/],
      [plain, 'tls', /does not use TLS on this port/],
      [rawBehaviours.closes, 'reset', /closed before the response/],
    ]
    const policy = createAddressPolicy({ allowHttp: true, allowCidrs: ['127.0.0.0/8'] })
    for (const [behaviour, errorClass, message] of rows) {
      const server = startRaw(behaviour)
      const transport = await make.http1()
      expect(await post(transport, `https://127.0.0.1:${server.port}/`, policy))
        .toEqual({
          kind: 'fault',
          errorClass,
          message: expect.stringMatching(message),
          unsent: true,
        })
      await transport.close()
      server.close()
      await nextTurn()
    }
  })

  Deno.test(`a connection that ends without the end of TLS is a reset, under ${runtime}`, async () => {
    const receiver = startReceiver({ tls: selfSigned })
    const cutter = startCutter(Number(new URL(receiver.url).port), 600)
    const transport = await make.http1({ ca: known })
    const policy = createAddressPolicy({ allowHttp: true, allowCidrs: ['127.0.0.0/8'] })
    expect(await post(transport, `https://127.0.0.1:${cutter.port}/`, policy))
      .toMatchObject({ kind: 'fault', errorClass: 'reset' })
    await transport.close()
    cutter.close()
    await receiver.close()
    await nextTurn()
  })
}
