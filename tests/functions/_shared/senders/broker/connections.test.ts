import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../../functions/_shared/connect/address.ts'
import type { Outcome } from '../../../../../functions/_shared/contract/contract.ts'
import {
  type Connections,
  createConnections,
} from '../../../../../functions/_shared/senders/broker/connections.ts'
import {
  refused,
  unreachable,
  within,
} from '../../../../../functions/_shared/senders/broker/outcome.ts'
import { failed } from '../../../../../functions/_shared/senders/http_outcome.ts'

const policy = createAddressPolicy({ allowHttp: true, allowCidrs: [] })
const delivered: Outcome = { outcome: 'delivered' }
const reset = unreachable(Object.assign(new Error('gone'), { code: 'ECONNRESET' }))

type Connection = { target: string; isOpen: boolean; isClosed: boolean }
type Harness = {
  connections: Connections<string, Connection>
  dialled: Connection[]
  /** Whether the next connections fail. */
  isDown: boolean
  /** Until this resolves nothing is dialled. */
  hanging: Promise<void>
  now: number
  send(work?: () => Promise<Outcome>, target?: string, isLate?: () => boolean): Promise<Outcome>
}

function harness(): Harness {
  const dialled: Connection[] = []
  const connections = createConnections<string, Connection>({
    dial: async (target) => {
      await it.hanging
      if (it.isDown) return unreachable(Object.assign(new Error(), { code: 'ECONNREFUSED' }))
      const connection = { target, isOpen: true, isClosed: false }
      dialled.push(connection)
      return connection
    },
    close: (connection) => {
      connection.isClosed = true
      return Promise.resolve()
    },
    isOpen: ({ isOpen }) => isOpen,
  }, { now: () => it.now, dialMs: 20 })
  const it: Harness = {
    connections,
    dialled,
    isDown: false,
    hanging: Promise.resolve(),
    now: 0,
    send: (work = () => Promise.resolve(delivered), target = 'a', isLate = () => false) =>
      connections.use(target, policy, work, isLate),
  }
  return it
}

Deno.test('use() shares one connection per target among concurrent calls', async () => {
  const it = harness()
  await Promise.all(Array.from({ length: 20 }, () => it.send()))
  await it.send(undefined, 'b')
  await it.send()
  expect(it.dialled.map(({ target }) => target)).toEqual(['a', 'b'])
})

Deno.test('use() leaves a broker alone for a second that could not be connected to', async () => {
  const it = harness()
  it.isDown = true
  expect(await it.send()).toMatchObject({ error_class: 'connect' })
  it.isDown = false
  it.now = 999
  expect(await it.send()).toMatchObject({ error_class: 'connect' })
  expect(it.dialled).toHaveLength(0)
  it.now = 1_000
  expect(await it.send()).toEqual(delivered)
})

Deno.test('use() times out an endless handshake, and closes a late connection', async () => {
  const it = harness()
  const { promise, resolve } = Promise.withResolvers<void>()
  it.hanging = promise
  const outcomes = await Promise.all([it.send(), it.send()])
  for (const outcome of outcomes) expect(outcome).toMatchObject({ error_class: 'timeout' })
  it.hanging = Promise.resolve()
  it.now = 1_000
  expect(await it.send()).toEqual(delivered)
  resolve()
  await new Promise((later) => setTimeout(later, 0))
  expect(it.dialled).toMatchObject([{ isClosed: false }, { isClosed: true }])
  expect(await it.send()).toEqual(delivered)
})

Deno.test('use() opens a new connection after a broken one, which closes after its last user', async () => {
  const it = harness()
  const slow = Promise.withResolvers<Outcome>()
  const waiting = it.send(() => slow.promise)
  expect(await it.send(() => Promise.resolve(reset))).toEqual(reset)
  expect(await it.send()).toEqual(delivered)
  expect(it.dialled).toMatchObject([{ isClosed: false }, { isClosed: false }])
  slow.resolve(delivered)
  expect(await waiting).toEqual(delivered)
  await it.connections.closeIdle()
  expect(it.dialled).toMatchObject([{ isClosed: true }, { isClosed: true }])
})

Deno.test('use() keeps the connection after a refusal, and replaces a closed one', async () => {
  const it = harness()
  await it.send(() => Promise.resolve(refused('NACK', 'no')))
  await it.send(() => Promise.resolve(failed('protocol', 'The record cannot be made')))
  await it.send()
  expect(it.dialled).toHaveLength(1)
  for (const connection of it.dialled) connection.isOpen = false
  await Promise.all([it.send(), it.send(), it.send()])
  expect(it.dialled).toHaveLength(2)
})

Deno.test('use() connects anew when the policy changes', async () => {
  const it = harness()
  await it.send()
  const other = createAddressPolicy({ allowHttp: false, allowCidrs: [] })
  await it.connections.use('a', other, () => Promise.resolve(delivered), () => false)
  expect(it.dialled).toMatchObject([{ isClosed: true }, { isClosed: false }])
})

Deno.test('closeIdle() closes unused connections at once, and the others after their work', async () => {
  const it = harness()
  await it.send(undefined, 'idle')
  const slow = Promise.withResolvers<Outcome>()
  const waiting = it.send(() => slow.promise, 'busy')
  await Promise.resolve()
  await it.connections.closeIdle()
  expect(it.dialled).toMatchObject([
    { target: 'idle', isClosed: true },
    { target: 'busy', isClosed: false },
  ])
  slow.resolve(delivered)
  await waiting
  await it.connections.closeIdle()
  expect(it.dialled[1]?.isClosed).toBe(true)
})

Deno.test('within() fails after its timeout', async () => {
  expect(await within(5, () => new Promise(() => {}))).toMatchObject({ error_class: 'timeout' })
  expect(await within(1_000, () => Promise.resolve(delivered))).toEqual(delivered)
})

Deno.test('within() tells its work whether the timeout has passed, although its timer is late', async () => {
  let now = 100
  const late: boolean[] = []
  const work = (isLate: () => boolean): Promise<Outcome> => {
    for (now of [100, 60_099, 60_100]) late.push(isLate())
    return Promise.resolve(delivered)
  }
  expect(await within(60_000, work, () => now)).toEqual(delivered)
  expect(late).toEqual([false, false, true])
})

Deno.test('use() sends nothing over a connection that opens after the timeout, and keeps it', async () => {
  const it = harness()
  let worked = 0
  const work = (): Promise<Outcome> => {
    worked++
    return Promise.resolve(delivered)
  }
  expect(await it.send(work, 'a', () => true)).toMatchObject({ error_class: 'timeout' })
  expect(worked).toBe(0)
  expect(await it.send(work)).toEqual(delivered)
  expect([worked, it.dialled.length]).toEqual([1, 1])
})

Deno.test('createConnections() forgets the brokers that could not be reached', async () => {
  const it = harness()
  it.isDown = true
  for (let n = 0; n < 20; n++) await it.send(undefined, `gone-${n}`)
  expect(it.connections.size).toBe(20)
  it.isDown = false
  it.now = 1_000
  await it.send()
  expect(it.connections.size).toBe(1)
})
