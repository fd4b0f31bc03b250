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
import { waitUntil } from '../../../../../supabase/local/process/wait.ts'
import { patienceMs } from '../../../../_support/patience.ts'

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
  /** Called when a connection is closed. */
  closing(): void | Promise<void>
  send(
    work?: () => Promise<Outcome>,
    target?: string,
    isLate?: () => boolean,
    endpointId?: string,
  ): Promise<Outcome>
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
    close: async (connection) => {
      connection.isClosed = true
      await it.closing()
    },
    isOpen: ({ isOpen }) => isOpen,
  }, { now: () => it.now, dialMs: 20, roomMs: 20 })
  const it: Harness = {
    connections,
    dialled,
    isDown: false,
    hanging: Promise.resolve(),
    now: 0,
    closing: () => {},
    send: (
      work = () => Promise.resolve(delivered),
      target = 'a',
      isLate = () => false,
      endpointId = `endpoint-${target}`,
    ) => connections.use(target, policy, work, { endpointId, isLate }),
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

Deno.test('closeIdle() waits for the end of a connection that a failure has retired', async () => {
  const it = harness()
  const end = Promise.withResolvers<void>()
  it.closing = () => end.promise
  expect(await it.send(() => Promise.resolve(reset))).toEqual(reset)
  let isDone = false
  const done = it.connections.closeIdle().then(() => isDone = true)
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect({ isClosed: it.dialled[0]?.isClosed, isDone }).toEqual({ isClosed: true, isDone: false })
  end.resolve()
  await done
  expect(isDone).toBe(true)
})

Deno.test('a connection that cannot be closed fails neither its delivery nor closeIdle()', async () => {
  const it = harness()
  it.closing = () => Promise.reject(new Error('reset'))
  expect(await it.send(() => Promise.resolve(reset))).toEqual(reset)
  // An error that nobody handles would fail this test.
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(await it.send(undefined, 'b')).toEqual(delivered)
  await it.connections.closeIdle()
  expect(it.dialled.map(({ isClosed }) => isClosed)).toEqual([true, true])
})

Deno.test('use() sends no further record while 64 late ones of the endpoint have no response', async () => {
  const it = harness()
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  let asked = 0
  let isLate = false
  const hang = (): Promise<Outcome> => {
    asked++
    return promise
  }
  const open = Array.from({ length: 100 }, () => it.send(hang, 'a', () => isLate))
  await waitUntil(() => asked === 100, { timeoutMs: patienceMs, everyMs: 1 })
  // In time, as many wait as the run has slots.
  open.push(it.send(hang, 'a', () => isLate))
  await waitUntil(() => asked === 101, { timeoutMs: patienceMs, everyMs: 1 })
  isLate = true
  await it.connections.room('endpoint-a')
  const error = 'The broker has not responded to 64 earlier records'
  expect(await it.send(hang, 'a')).toMatchObject({
    outcome: 'failed',
    error_class: 'timeout',
    error,
  })
  expect(asked).toBe(101)
  // Another endpoint has its own limit.
  await it.connections.room('endpoint-b')
  expect(await it.send(undefined, 'b')).toEqual(delivered)
  resolve(delivered)
  await Promise.all(open)
  expect(await it.send()).toEqual(delivered)
})

Deno.test('use() closes a connection whose records are all late, and the next record opens another one', async () => {
  const it = harness()
  const closed = Promise.withResolvers<void>()
  it.closing = closed.resolve
  const hang = (): Promise<Outcome> => closed.promise.then(() => reset)
  let isLate = false
  const other = Promise.withResolvers<Outcome>()
  const open = Array.from({ length: 64 }, () => it.send(hang, 'a', () => isLate))
  const inTime = it.send(() => other.promise, 'a')
  await it.send()
  isLate = true
  expect(await it.send()).toMatchObject({ error_class: 'timeout' })
  // One record may still get its response.
  expect(it.dialled).toMatchObject([{ isClosed: false }])
  other.resolve(delivered)
  expect(await inTime).toEqual(delivered)
  expect(await it.send()).toMatchObject({ error_class: 'timeout' })
  for (const outcome of await Promise.all(open)) expect(outcome).toEqual(reset)
  expect(await it.send()).toEqual(delivered)
  expect(it.dialled).toMatchObject([{ isClosed: true }, { isClosed: false }])
})

/** 64 late records of endpoint-a over a connection to the broker 'a', which end when it is closed. */
async function withLateRecords(): Promise<{ it: Harness; open: Promise<Outcome>[] }> {
  const it = harness()
  const closed = Promise.withResolvers<void>()
  it.closing = closed.resolve
  let isLate = false
  let asked = 0
  const hang = (): Promise<Outcome> => {
    asked++
    return closed.promise.then(() => reset)
  }
  const open = Array.from({ length: 64 }, () => it.send(hang, 'a', () => isLate))
  await waitUntil(() => asked === 64, { timeoutMs: patienceMs, everyMs: 1 })
  isLate = true
  return { it, open }
}

Deno.test('use() closes the connection of late records also if the endpoint has another address now', async () => {
  const { it, open } = await withLateRecords()
  const toOther = (): Promise<Outcome> => it.send(undefined, 'b', undefined, 'endpoint-a')
  await it.send(undefined, 'b')
  expect(await toOther()).toMatchObject({ error_class: 'timeout' })
  await Promise.all(open)
  expect(await toOther()).toEqual(delivered)
  // The connection to the new address had no late record.
  expect(it.dialled).toMatchObject([
    { target: 'a', isClosed: true },
    { target: 'b', isClosed: false },
  ])
})

Deno.test('use() closes the connection of late records also if it was replaced', async () => {
  const { it, open } = await withLateRecords()
  // Of another endpoint on the same broker, with a failure that breaks the connection.
  await it.send(() => Promise.resolve(reset), 'a', undefined, 'endpoint-b')
  expect(await it.send(undefined, 'a', undefined, 'endpoint-b')).toEqual(delivered)
  expect(it.dialled).toMatchObject([{ isClosed: false }, { isClosed: false }])
  expect(await it.send()).toMatchObject({ error_class: 'timeout' })
  await Promise.all(open)
  expect(await it.send()).toEqual(delivered)
  expect(it.dialled).toMatchObject([{ isClosed: true }, { isClosed: false }])
})

Deno.test('room() waits until a late record has a response', async () => {
  const it = harness()
  const responses = Array.from({ length: 65 }, () => Promise.withResolvers<Outcome>())
  let isLate = false
  const open = responses.map(({ promise }) => it.send(() => promise, 'a', () => isLate))
  await it.connections.room('endpoint-a')
  isLate = true
  responses[0]?.resolve(delivered)
  await open[0]
  let isFree = false
  const waiting = it.connections.room('endpoint-a').then(() => isFree = true)
  await Promise.resolve()
  expect(isFree).toBe(false)
  responses[1]?.resolve(delivered)
  await waiting
  expect(await it.send()).toEqual(delivered)
  for (const { resolve } of responses) resolve(delivered)
  await Promise.all(open)
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
  const record = { endpointId: 'endpoint-a', isLate: () => false }
  await it.connections.use('a', other, () => Promise.resolve(delivered), record)
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
