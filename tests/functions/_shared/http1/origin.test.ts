import { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers'
import { expect } from '@std/expect'
import type { Connection } from '../../../../functions/_shared/http1/connection.ts'
import { Origin } from '../../../../functions/_shared/http1/origin.ts'
import { createDeadlines } from '../../../../functions/_shared/http1/deadlines.ts'

/** A stream that never ends by itself and takes whatever is written. */
class Endless extends Duplex {
  override _read(): void {}
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done()
  }
}

/** Resolves when what was released before has been served: a timer of 0 ms may come before that. */
function served(): Promise<void> {
  return new Promise((resolve) => void setImmediate(() => setImmediate(resolve)))
}

type Made = { settle: (result: Duplex | Error) => void; isGivenUp: boolean }

type Started = {
  origin: Origin
  made: Made[]
  got: (Connection | string)[]
  requestOne(isSettled?: boolean, waitsSince?: number, needsFresh?: boolean): void
  connected(n: number): Connection
  idle: Set<Connection>
  count(): number
  emptied(): number
  stop(): void
}

function startOrigin(most = 2): Started {
  const made: Made[] = []
  const deadlines = createDeadlines()
  const got: (Connection | string)[] = []
  const idle = new Set<Connection>()
  let count = 0
  let emptied = 0
  const origin = new Origin({
    to: { hostname: 'x.test', port: 1, tls: false },
    connect: (_to, _timeoutMs, settle) => {
      const one: Made = { settle, isGivenUp: false }
      made.push(one)
      return () => {
        one.isGivenUp = true
        settle(new Error('given up'))
      }
    },
    maxConnections: most,
    keepMs: 60_000,
    deadlines,
    idle,
    onCount: (change) => {
      count += change
    },
    onEmpty: () => void emptied++,
  })
  const requestOne = (
    isSettled = false,
    waitsSince = performance.now(),
    needsFresh = false,
  ): void =>
    origin.request({
      isSettled,
      waitsSince,
      needsFresh,
      timeoutMs: 1_000,
      onConnection: (connection) => void got.push(connection),
      onRefusal: ({ message }) => void got.push(message),
    })
  const connected = (n: number): Connection => {
    const one = got[n]
    if (one === undefined || typeof one === 'string') throw new Error(`no connection: ${one}`)
    return one
  }
  const stop = (): void => {
    origin.close()
    deadlines.close()
  }
  const counts = { count: () => count, emptied: () => emptied }
  return { origin, made, got, idle, requestOne, connected, ...counts, stop }
}

Deno.test('Origin opens at most its limit of connections, and waiting requests get the next free one', async () => {
  const { origin, made, got, requestOne, connected } = startOrigin(2)
  for (let n = 0; n < 4; n++) requestOne()
  expect(made.length).toBe(2)
  for (const { settle } of made) settle(new Endless())
  expect(got.length).toBe(2)
  origin.release(connected(0), 1_000)
  expect(got.length).toBe(2)
  await served()
  expect(got[2]).toBe(got[0])
  origin.close()
  expect(got[3]).toBe('The connection was closed before the response')
})

Deno.test('Origin connects again for the others when a connect fails', () => {
  const { made, got, requestOne, stop } = startOrigin(1)
  for (let n = 0; n < 3; n++) requestOne()
  made[0]?.settle(new Error('refused'))
  expect(got).toEqual(['refused'])
  expect(made.length).toBe(2)
  made[1]?.settle(new Endless())
  expect(got.length).toBe(2)
  stop()
})

Deno.test('Origin fails no request that came after the failed connect had started', () => {
  const { made, got, requestOne, stop } = startOrigin(2)
  requestOne()
  requestOne()
  requestOne(false, performance.now() + 10_000)
  made[0]?.settle(new Endless())
  made[1]?.settle(new Error('not made in time'))
  expect(got.slice(1)).toEqual(['not made in time'])
  made[2]?.settle(new Error('not made in time'))
  expect(got.length).toBe(2)
  made[3]?.settle(new Endless())
  expect(got.length).toBe(3)
  stop()
})

Deno.test('Origin opens no connection for a settled request after a failed connect', () => {
  const { made, got, requestOne, stop } = startOrigin(1)
  requestOne(true)
  made[0]?.settle(new Error('refused'))
  expect([got.length, made.length]).toEqual([0, 1])
  stop()
})

Deno.test('Origin keeps the connection if the request has settled', async () => {
  const { made, got, requestOne, count, stop } = startOrigin(1)
  requestOne(true)
  made[0]?.settle(new Endless())
  await served()
  expect([got.length, count()]).toEqual([0, 1])
  requestOne()
  expect([got.length, made.length]).toEqual([1, 1])
  stop()
})

Deno.test('Origin does not reuse a connection that ended, or received bytes, in between', async () => {
  const { origin, made, requestOne, connected, got, stop } = startOrigin(2)
  requestOne()
  requestOne()
  const [ends, speaks] = [new Endless(), new Endless()]
  made[0]?.settle(ends)
  made[1]?.settle(speaks)
  origin.release(connected(0), 1_000)
  origin.release(connected(1), 1_000)
  ends.push(null)
  speaks.push('HTTP/1.1 200 OK')
  await served()
  await served()
  requestOne()
  expect([got.length, made.length]).toEqual([2, 3])
  stop()
})

Deno.test('Origin closes a connection that is released after it was retired', async () => {
  const { origin, made, requestOne, connected, count } = startOrigin(1)
  requestOne()
  made[0]?.settle(new Endless())
  origin.retire()
  expect(count()).toBe(1)
  origin.release(connected(0), 1_000)
  await served()
  expect([count(), origin.isEmpty]).toEqual([0, true])
})

Deno.test('Origin uses the connection first that was used last', async () => {
  const { origin, made, requestOne, connected, got, idle, stop } = startOrigin(2)
  requestOne()
  requestOne()
  for (const { settle } of made) settle(new Endless())
  origin.release(connected(1), 1_000)
  await served()
  origin.release(connected(0), 1_000)
  await served()
  expect([...idle]).toEqual([got[1], got[0]])
  requestOne()
  expect(got[2]).toBe(got[0])
  expect([...idle]).toEqual([got[1]])
  stop()
})

Deno.test('Origin gives a request that needs a fresh connection no used one', async () => {
  const { origin, made, requestOne, connected, got, stop } = startOrigin(2)
  requestOne()
  made[0]?.settle(new Endless())
  origin.release(connected(0), 1_000)
  await served()
  requestOne(false, performance.now(), true)
  expect([got.length, made.length]).toEqual([1, 2])
  made[1]?.settle(new Endless())
  expect(got.length).toBe(2)
  expect(got[1]).not.toBe(got[0])
  stop()
})

Deno.test('Origin closes an unused connection at its limit for a request that needs a fresh one', async () => {
  const { origin, made, requestOne, connected, got, count, stop } = startOrigin(1)
  requestOne()
  made[0]?.settle(new Endless())
  origin.release(connected(0), 1_000)
  await served()
  requestOne(false, performance.now(), true)
  expect([made.length, count(), connected(0).isOpen]).toEqual([2, 0, false])
  made[1]?.settle(new Endless())
  expect([got.length, count()]).toEqual([2, 1])
  stop()
})

Deno.test('Origin serves the others with a returned connection while one request needs a fresh one', async () => {
  const { origin, made, requestOne, connected, got, stop } = startOrigin(1)
  requestOne()
  made[0]?.settle(new Endless())
  requestOne(false, performance.now(), true)
  requestOne()
  origin.release(connected(0), 1_000)
  await served()
  expect(got[1]).toBe(got[0])
  origin.release(connected(0), 1_000)
  await served()
  made[1]?.settle(new Endless())
  expect(got.length).toBe(3)
  expect(got[2]).not.toBe(got[0])
  stop()
})

Deno.test('Origin reports that it is empty after a failed connect and after its last connection', () => {
  const { made, requestOne, connected, emptied, stop } = startOrigin(1)
  requestOne()
  made[0]?.settle(new Error('refused'))
  expect(emptied()).toBe(1)
  requestOne()
  made[1]?.settle(new Endless())
  expect(emptied()).toBe(1)
  connected(1).close()
  expect(emptied()).toBe(2)
  stop()
})

Deno.test('Origin refuses a request after it was closed', () => {
  const { origin, made, requestOne, got } = startOrigin(1)
  origin.close()
  requestOne()
  expect([got, made.length]).toEqual([['The connection was closed before the response'], 0])
})

Deno.test('Origin cancels pending connects when it closes', () => {
  const { origin, made, requestOne, got } = startOrigin(1)
  requestOne()
  origin.close()
  expect(made[0]?.isGivenUp).toBe(true)
  expect(got.length).toBe(1)
})
