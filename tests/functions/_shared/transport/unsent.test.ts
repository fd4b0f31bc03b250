/** Whether a request may have reached the other side: only if its connection was open. */

import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import { LookupWaitError } from '../../../../functions/_shared/connect/share_lookups.ts'
import { createFetchTransport } from '../../../../functions/_shared/transport/fetch.ts'
import { createHttp1Transport } from '../../../../functions/_shared/transport/http1.ts'
import type { Exchange } from '../../../../functions/_shared/transport/transport.ts'
import { nextTurn } from '../../next_turn.ts'
import { post } from '../connect/post.ts'

const policy = createAddressPolicy({ allowHttp: true, allowCidrs: ['127.0.0.0/8'] })

async function exchange(
  url: string,
  timeoutMs: number,
  options: Parameters<typeof createHttp1Transport>[0] = {},
): Promise<Exchange> {
  const transport = createHttp1Transport(options)
  const result = await post(transport, url, policy, timeoutMs)
  await transport.close()
  await nextTurn()
  return result
}

/** A server that handles each connection with `use`. */
function serve(use: (connection: Deno.Conn) => Promise<void>): { url: string; close(): void } {
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const accepting = (async () => {
    for await (const connection of listener) await use(connection)
  })()
  accepting.catch(() => {})
  return { url: `http://127.0.0.1:${listener.addr.port}/`, close: () => listener.close() }
}

Deno.test('a refused connection is unsent', async () => {
  const { url, close } = serve(() => Promise.resolve())
  close()
  expect(await exchange(url, 10_000)).toMatchObject({ kind: 'fault', unsent: true })
})

Deno.test('a name that is not resolved in time is unsent', async () => {
  const { promise, resolve } = Promise.withResolvers<never[]>()
  const result = await exchange('http://receiver.test/', 300, { resolve: () => promise })
  resolve([])
  expect(result).toMatchObject({ errorClass: 'connect', unsent: true })
})

Deno.test('a name that had to wait too long for other lookups is not the fault of the receiver', async () => {
  const resolve = (): Promise<never> => Promise.reject(new LookupWaitError())
  const expected = { kind: 'fault', errorClass: 'dns', isOurs: true }
  for (const scheme of ['http', 'https']) {
    const url = `${scheme}://receiver.test/`
    expect(await exchange(url, 10_000, { resolve })).toMatchObject({ ...expected, unsent: true })
    expect(await post(createFetchTransport(resolve), url, policy)).toMatchObject(expected)
  }
})

Deno.test('a request whose connection ends without a response may have been sent', async () => {
  const server = serve(async (connection) => {
    await connection.read(new Uint8Array(16))
    connection.close()
  })
  const result = await exchange(server.url, 10_000)
  server.close()
  expect(result).toMatchObject({ kind: 'fault', errorClass: 'reset' })
  expect(result).not.toHaveProperty('unsent')
})

Deno.test('a request without a response in time may have been sent', async () => {
  const open: Deno.Conn[] = []
  const server = serve((connection) => {
    open.push(connection)
    return Promise.resolve()
  })
  const result = await exchange(server.url, 1_000)
  for (const connection of open) connection.close()
  server.close()
  expect(result).toMatchObject({ kind: 'fault', errorClass: 'timeout' })
  expect(result).not.toHaveProperty('unsent')
})
