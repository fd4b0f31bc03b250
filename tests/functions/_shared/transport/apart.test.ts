/** No endpoint gets a response that is meant for another one on the same host. */

import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import type { Exchange } from '../../../../functions/_shared/transport/transport.ts'
import { createHttp1Transport } from '../../../../functions/_shared/transport/http1.ts'
import { nextTurn } from '../../next_turn.ts'
import { okResponse, type RawConn, startRawServer } from '../../raw_server.ts'
import { post } from '../connect/post.ts'

const local = createAddressPolicy({ allowHttp: true, allowCidrs: ['127.0.0.0/8'] })
const forged = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged'

/** The owner of `/a` writes a second response some milliseconds after the first one. */
async function attack(one: RawConn): Promise<void> {
  for (;;) {
    const path = await one.request()
    if (path === null) return
    await one.write(okResponse)
    if (path !== '/a') continue
    const ms = 1 + Math.floor(Math.random() * 5)
    await new Promise((resolve) => setTimeout(resolve, ms))
    await one.write(forged)
  }
}

Deno.test('an endpoint never gets the second response of another endpoint of the same origin', async () => {
  const transport = createHttp1Transport({ keepAliveMs: 60_000 })
  await using server = startRawServer(attack)
  const bodies: string[] = []
  for (let round = 0; round < 100; round++) {
    const exchanges = await Promise.all([
      ...[1, 2, 3].map(() => post(transport, `${server.url}/a`, local, 60_000, { endpoint: 'a' })),
      ...[1, 2, 3].map(() => post(transport, `${server.url}/b`, local, 60_000, { endpoint: 'b' })),
    ])
    bodies.push(...exchanges.slice(3).map(textOf))
  }
  expect(bodies.length).toBe(300)
  expect(bodies.filter((text) => text !== '200 ok')).toEqual([])
  await transport.close()
  await nextTurn()
})

Deno.test('a connection serves the requests of one endpoint only', async () => {
  const transport = createHttp1Transport({ keepAliveMs: 60_000 })
  const serve = async (one: RawConn): Promise<void> => {
    while (await one.request() !== null) await one.write(okResponse)
  }
  await using server = startRawServer(serve)
  for (const endpoint of ['a', 'b', 'a', 'b', 'c']) {
    await post(transport, `${server.url}/${endpoint}`, local, 60_000, { endpoint })
  }
  expect(server.received).toEqual([[1, '/a'], [2, '/b'], [1, '/a'], [2, '/b'], [3, '/c']])
  await transport.close()
  await nextTurn()
})

function textOf(exchange: Exchange): string {
  if (exchange.kind === 'fault') return exchange.errorClass
  return `${exchange.status} ${new TextDecoder().decode(exchange.body)}`
}
