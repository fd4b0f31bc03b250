/** What becomes of responses that come early, late, in pieces, or not as they should. */

import { expect } from '@std/expect'
import { Buffer } from 'node:buffer'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import type { Exchange, PostRequest } from '../../../../functions/_shared/transport/transport.ts'
import { createHttp1Transport } from '../../../../functions/_shared/transport/http1.ts'
import { nextTurn } from '../../next_turn.ts'
import { okResponse, type RawConn, startRawServer } from '../../raw_server.ts'
import { post } from '../connect/post.ts'

const local = createAddressPolicy({ allowHttp: true, allowCidrs: ['127.0.0.0/8'] })

type Found = { exchange: Exchange; accepted: number }

/** Sends one request, then a second one that says whether the connection was kept. */
async function exchangeWith(
  serve: (one: RawConn) => Promise<void>,
  more: Partial<PostRequest> = {},
): Promise<Found> {
  const transport = createHttp1Transport({ keepAliveMs: 60_000 })
  await using server = startRawServer(async (one) => {
    await serve(one)
    if (await one.request() !== null) await one.write(okResponse)
    await one.closed()
  })
  const exchange = await post(transport, server.url, local, 60_000, more)
  await post(transport, server.url, local, 60_000)
  await transport.close()
  await nextTurn()
  return { exchange, accepted: server.accepted }
}

function textOf(exchange: Exchange): string {
  return exchange.kind === 'fault'
    ? exchange.errorClass
    : `${exchange.status} ${new TextDecoder().decode(exchange.body)}${exchange.cut ? ' cut' : ''}`
}

const chunks = 'transfer-encoding: chunked\r\n\r\n2;x="y"\r\nok\r\n0\r\nx-trailer: z\r\n\r\n'
const rows: [what: string, text: string, outcome: string, isKept: boolean][] = [
  ['a length', okResponse, '200 ok', true],
  ['chunks, an extension and a trailer', `HTTP/1.1 200 OK\r\n${chunks}`, '200 ok', true],
  [
    'interim responses',
    `HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 E\r\nx: y\r\n\r\n${okResponse}`,
    '200 ok',
    true,
  ],
  ['an empty line before', `\r\n${okResponse}`, '200 ok', true],
  [
    'a folded header',
    `HTTP/1.1 200 OK\r\nx: a\r\n b\r\ncontent-length: 2\r\n\r\nok`,
    '200 ok',
    true,
  ],
  [
    '410 with an invalid length',
    'HTTP/1.1 410 x\r\ncontent-length: -1\r\n\r\nok',
    '410  cut',
    false,
  ],
  [
    '200 with a length and chunks',
    `HTTP/1.1 200 x\r\ncontent-length: 2\r\n${chunks}`,
    '200  cut',
    false,
  ],
  ['a header without a colon', 'HTTP/1.1 500 x\r\nnonsense\r\n\r\n', '500  cut', false],
  ['a chunk with a NUL', `HTTP/1.1 200 x\r\n${chunks.replace('x="y"', '\0')}`, '200  cut', false],
  [
    'HTTP/1.0 with chunks',
    `HTTP/1.0 200 x\r\nconnection: keep-alive\r\n${chunks}`,
    '200 ok',
    false,
  ],
  ['line feeds alone', 'HTTP/1.1 200 OK\ncontent-length: 2\n\nok', 'protocol', false],
  ['no HTTP', 'SSH-2.0-OpenSSH\r\n', 'protocol', false],
]

for (const [what, text, outcome, isKept] of rows) {
  Deno.test(`a response has the same outcome whole and byte by byte: ${what}`, async () => {
    for (const size of [text.length, 1]) {
      const { exchange, accepted } = await exchangeWith(async (one) => {
        one.conn.setNoDelay(true)
        await one.request()
        for (let at = 0; at < text.length; at += size) {
          // Each piece in a segment of its own, if the client reads fast enough.
          await one.write(text.slice(at, at + size)).catch(() => {})
          await nextTurn()
        }
      })
      expect([size, textOf(exchange)]).toEqual([size, outcome])
      expect([size, accepted]).toEqual([size, isKept ? 1 : 2])
    }
  })
}

Deno.test('a connection is not used again after a second response in the same piece', async () => {
  const { exchange, accepted } = await exchangeWith(async (one) => {
    await one.request()
    await one.write(one.nth === 1 ? okResponse + okResponse : okResponse)
  })
  expect([textOf(exchange), accepted]).toEqual(['200 ok', 2])
})

Deno.test('a response that ends with its connection is complete at its end', async () => {
  const head = 'HTTP/1.1 200 OK\r\n\r\nok'
  const ended = await exchangeWith(async (one) => {
    await one.request()
    await one.write(head)
    if (one.nth === 1) await one.conn.closeWrite()
  })
  expect([textOf(ended.exchange), ended.accepted]).toEqual(['200 ok', 2])
})

Deno.test('a head that ends early is a reset, and a body that ends early is cut', async () => {
  const parts: [string, string][] = [
    ['HTTP/1.1 410 Gone\r\ncontent-le', 'reset'],
    ['HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n', 'reset'],
    ['HTTP/1.1 410 Gone\r\ncontent-length: 9\r\n\r\nok', '410 ok cut'],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n', '200 ok cut'],
  ]
  for (const [text, outcome] of parts) {
    const { exchange } = await exchangeWith(async (one) => {
      await one.request()
      if (one.nth > 1) return await one.write(okResponse)
      await one.write(text)
      await one.conn.closeWrite()
    })
    expect([text, textOf(exchange)]).toEqual([text, outcome])
  }
})

Deno.test('a response before the request is read counts, and its connection is not used again', async () => {
  const body = Buffer.alloc(16 * 1024 * 1024, 'x')
  const { exchange, accepted } = await exchangeWith(async (one) => {
    if (one.nth > 1) return
    await one.write('HTTP/1.1 413 x\r\ncontent-length: 9\r\n\r\ntoo large')
    await one.closed()
  }, { body })
  expect([textOf(exchange), accepted]).toEqual(['413 too large', 2])
})
