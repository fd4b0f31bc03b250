import { expect } from '@std/expect'
import { connectFirst } from '../../../../functions/_shared/connect/first_address.ts'
import { nextTurn } from '../../next_turn.ts'

const never = new AbortController().signal
const loopback = (address: string) => ({ address, family: 4 })

Deno.test('connectFirst() tries the next address after one that refuses', async () => {
  using listener = Deno.listen({ hostname: '127.0.0.2', port: 0 })
  const { port } = listener.addr
  const conn = await connectFirst(['127.0.0.1', '127.0.0.2'].map(loopback), port, never)
  const accepted = await listener.accept()
  expect(accepted.localAddr.hostname).toBe('127.0.0.2')
  accepted.close()
  conn.close()
})

Deno.test('connectFirst() rejects with the last error, and without an address', async () => {
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const { port } = listener.addr
  listener.close()
  await expect(connectFirst(['127.0.0.1', '127.0.0.2'].map(loopback), port, never))
    .rejects.toThrow(/refused/i)
  await expect(connectFirst([], port, never)).rejects.toThrow('The host name has no address')
})

Deno.test('connectFirst() closes a connection that opens after it was aborted', async () => {
  using listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const limit = new AbortController()
  const connecting = connectFirst([loopback('127.0.0.1')], listener.addr.port, limit.signal)
  limit.abort(new Error('too late'))
  await expect(connecting).rejects.toThrow('too late')
  using conn = await listener.accept()
  expect(await conn.read(new Uint8Array(1))).toBe(null)
  await nextTurn()
})
