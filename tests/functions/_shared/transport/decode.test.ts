import { expect } from '@std/expect'
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import type { Exchange } from '../../../../functions/_shared/transport/transport.ts'
import { decode } from '../../../../functions/_shared/transport/decode.ts'
import { createHttp1Transport } from '../../../../functions/_shared/transport/http1.ts'
import { nextTurn } from '../../next_turn.ts'
import { startRawServer } from '../../raw_server.ts'
import { post } from '../connect/post.ts'

const local = createAddressPolicy({ allowHttp: true, allowCidrs: ['127.0.0.0/8'] })
const text = '{"error":"the signature is wrong"}'.repeat(4)

/** The body as text, and whether it is cut. */
async function decoded(bytes: Uint8Array, coding: string, limit: number): Promise<unknown> {
  const { body, cut } = await decode(bytes, coding, limit)
  return [new TextDecoder().decode(body), cut]
}

Deno.test('decode() reads gzip, and deflate with and without its header', async () => {
  const rows: [string, Uint8Array][] = [
    ['gzip', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
  ]
  for (const [coding, bytes] of rows) {
    expect([coding, await decoded(bytes, coding, 4_096)]).toEqual([coding, [text, false]])
    expect([coding, await decoded(bytes, coding, text.length)]).toEqual([coding, [text, false]])
    expect([coding, await decoded(bytes, coding, text.length - 1)])
      .toEqual([coding, [text.slice(0, -1), true]])
  }
})

Deno.test('decode() reads the start of a body that ends early or has an error later', async () => {
  const long = Array.from({ length: 4_000 }, (_, n) => `line ${n}\n`).join('')
  const whole = gzipSync(long)
  expect(await decoded(whole.subarray(0, -100), 'gzip', 20)).toEqual([long.slice(0, 20), true])
  const broken = new Uint8Array(whole)
  broken.fill(0xff, broken.length - 50)
  expect(await decoded(broken, 'gzip', 20)).toEqual([long.slice(0, 20), true])
})

Deno.test('decode() names the coding of a body that it cannot decode', async () => {
  const named = (coding: string): unknown => [
    `[a body with content-encoding ${coding}, which cannot be decoded]`,
    true,
  ]
  const bytes = new TextEncoder().encode('This body is not compressed, whatever its header says.')
  for (const coding of ['gzip', 'br', 'deflate', 'zstd', 'gzip, br']) {
    expect(await decoded(bytes, coding, 256)).toEqual(named(coding))
  }
  expect(await decoded(bytes, 'zstd', 4)).toEqual(['[a b', true])
})

Deno.test('decode() reads an empty body', async () => {
  expect(await decoded(gzipSync(''), 'gzip', 256)).toEqual(['', false])
})

Deno.test('decode() stops at its limit in a body that decodes to gigabytes', async () => {
  const zeros = new Uint8Array(16 * 1024 * 1024)
  const rows: [string, Uint8Array][] = [
    ['gzip', gzipSync(zeros)],
    ['deflate', deflateSync(zeros)],
  ]
  for (const [coding, bytes] of rows) {
    const { body, cut } = await decode(bytes.subarray(0, 16_384), coding, 256)
    expect([body, cut]).toEqual([new Uint8Array(256), true])
  }
})

async function respond(head: string, body: Uint8Array): Promise<Exchange> {
  const transport = createHttp1Transport()
  await using server = startRawServer(async (one) => {
    await one.request()
    await one.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n`)
    await one.write(body)
    await one.closed()
  })
  const exchange = await post(transport, server.url, local, 60_000)
  await transport.close()
  await nextTurn()
  return exchange
}

Deno.test('createHttp1Transport() decodes a body although it asks for none', async () => {
  const gzip = gzipSync(text)
  const rows: [string, string, boolean][] = [
    ['HTTP/1.1 401 x\r\ncontent-encoding: gzip', text, false],
    ['HTTP/1.1 200 x\r\nContent-Encoding: GZIP', text, false],
    ['HTTP/1.1 200 x\r\ncontent-encoding: identity\r\ncontent-encoding: gzip', text, false],
  ]
  for (const [head, body, cut] of rows) {
    const exchange = await respond(head, gzip)
    expect(exchange).toMatchObject({ kind: 'response', cut })
    expect(exchange.kind === 'response' && new TextDecoder().decode(exchange.body)).toBe(body)
  }
  expect(await respond('HTTP/1.1 200 x\r\ncontent-encoding: identity', gzip))
    .toMatchObject({ body: new Uint8Array(gzip), cut: false })
  expect(await respond('HTTP/1.1 200 x\r\ncontent-encoding: gzip', new Uint8Array()))
    .toMatchObject({ body: new Uint8Array(), cut: false })
})

Deno.test('createHttp1Transport() stores as much of a compressed body as of another one', async () => {
  const bomb = gzipSync(new Uint8Array(64 * 1024 * 1024))
  expect(await respond('HTTP/1.1 500 x\r\ncontent-encoding: gzip', bomb))
    .toMatchObject({ status: 500, body: new Uint8Array(256), cut: true })
})
