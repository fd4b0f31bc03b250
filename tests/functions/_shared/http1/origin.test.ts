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
  ask(isGone?: boolean, askedAt?: number): void
  connected(n: number): Connection
  count(): number
  stop(): void
}

function startOrigin(most = 2): Started {
  const made: Made[] = []
  const deadlines = createDeadlines()
  const got: (Connection | string)[] = []
  let count = 0
  const origin = new Origin({
    to: { hostname: 'x.test', port: 1, tls: false },
    connect: (_to, settle) => {
      const one: Made = { settle, isGivenUp: false }
      made.push(one)
      return () => {
        one.isGivenUp = true
        settle(new Error('given up'))
      }
    },
    most,
    keepMs: 60_000,
    deadlines,
    onCount: (change) => {
      count += change
    },
  })
  const ask = (isGone = false, askedAt = performance.now()): void =>
    origin.ask({
      isGone,
      askedAt,
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
  return { origin, made, got, ask, connected, count: () => count, stop }
}

Deno.test('Origin makes no more connections than it may, and whoever waits gets the next free one', async () => {
  const { origin, made, got, ask, connected } = startOrigin(2)
  for (let n = 0; n < 4; n++) ask()
  expect(made.length).toBe(2)
  for (const { settle } of made) settle(new Endless())
  expect(got.length).toBe(2)
  origin.release(connected(0), 1_000)
  expect(got.length).toBe(2)
  await served()
  expect(got[2]).toBe(got[0])
  origin.close()
  expect(got[3]).toBe('The connection was closed before an answer came')
})

Deno.test('Origin tries anew for the others when a connection cannot be made', () => {
  const { made, got, ask, stop } = startOrigin(1)
  for (let n = 0; n < 3; n++) ask()
  made[0]?.settle(new Error('refused'))
  expect(got).toEqual(['refused'])
  expect(made.length).toBe(2)
  made[1]?.settle(new Endless())
  expect(got.length).toBe(2)
  stop()
})

Deno.test('Origin refuses nobody who came after the failed connection was begun', () => {
  const { made, got, ask, stop } = startOrigin(2)
  ask()
  ask()
  ask(false, performance.now() + 10_000)
  made[0]?.settle(new Endless())
  made[1]?.settle(new Error('not made in time'))
  expect(got.slice(1)).toEqual(['not made in time'])
  made[2]?.settle(new Error('not made in time'))
  expect(got.length).toBe(2)
  made[3]?.settle(new Endless())
  expect(got.length).toBe(3)
  stop()
})

Deno.test('Origin makes no further connection for whoever has gone when one fails', () => {
  const { made, got, ask, stop } = startOrigin(1)
  ask(true)
  made[0]?.settle(new Error('refused'))
  expect([got.length, made.length]).toEqual([0, 1])
  stop()
})

Deno.test('Origin gives nothing to whoever has gone, and keeps the connection', async () => {
  const { made, got, ask, count, stop } = startOrigin(1)
  ask(true)
  made[0]?.settle(new Endless())
  await served()
  expect([got.length, count()]).toEqual([0, 1])
  ask()
  expect([got.length, made.length]).toEqual([1, 1])
  stop()
})

Deno.test('Origin does not give out a connection that ended, or on which something came, in between', async () => {
  const { origin, made, ask, connected, got, stop } = startOrigin(2)
  ask()
  ask()
  const [ends, speaks] = [new Endless(), new Endless()]
  made[0]?.settle(ends)
  made[1]?.settle(speaks)
  origin.release(connected(0), 1_000)
  origin.release(connected(1), 1_000)
  ends.push(null)
  speaks.push('HTTP/1.1 200 OK')
  await served()
  await served()
  ask()
  expect([got.length, made.length]).toEqual([2, 3])
  stop()
})

Deno.test('Origin closes a connection that comes back after it was retired', async () => {
  const { origin, made, ask, connected, count } = startOrigin(1)
  ask()
  made[0]?.settle(new Endless())
  origin.retire()
  expect(count()).toBe(1)
  origin.release(connected(0), 1_000)
  await served()
  expect([count(), origin.isEmpty]).toEqual([0, true])
})

Deno.test('Origin gives up what is being connected when it closes', () => {
  const { origin, made, ask, got } = startOrigin(1)
  ask()
  origin.close()
  expect(made[0]?.isGivenUp).toBe(true)
  expect(got.length).toBe(1)
})
