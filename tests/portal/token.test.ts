/** When the portal asks the app around it for a token. */

import { expect } from '@std/expect'
import { ConnectionError } from '../../package/client/errors.ts'
import { connect } from '../../portal/element/app/connection.ts'
import { mayPass, TokenError } from '../../portal/element/app/failure.ts'
import { TokenKeeper, type TokenReason } from '../../portal/element/app/token.ts'

function keeper(answers: (string | Error)[]): {
  keeper: TokenKeeper
  reasons: TokenReason[]
  changes: unknown[]
} {
  const reasons: TokenReason[] = []
  const changes: unknown[] = []
  const source = ({ reason }: { reason: TokenReason }): Promise<string> => {
    reasons.push(reason)
    const answer = answers.shift() ?? new Error('no more tokens')
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
  }
  return { keeper: new TokenKeeper(source, (error) => changes.push(error)), reasons, changes }
}

Deno.test('requests at the same time ask for one token', async () => {
  const { keeper: one, reasons } = keeper(['a', 'b'])
  expect(await Promise.all([one.get(), one.get(), one.get()])).toEqual(['a', 'a', 'a'])
  expect(await one.get()).toBe('a')
  expect(reasons).toEqual(['first'])
})

Deno.test('a refused token is replaced once, whoever was refused with it', async () => {
  const { keeper: one, reasons } = keeper(['a', 'b'])
  await one.get()
  expect(await Promise.all([one.replace('a'), one.replace('a')])).toEqual(['b', 'b'])
  // A late refusal of the old token does not ask again.
  expect(await one.replace('a')).toBe('b')
  expect(reasons).toEqual(['first', 'refused'])
})

Deno.test('a failed renewal is told, and a later one succeeds', async () => {
  const { keeper: one, changes, reasons } = keeper([new Error('down'), '', 'a'])
  await expect(one.get()).rejects.toThrow(TokenError)
  expect(one.isLost).toBe(true)
  // Requests do not ask again: the customer does.
  await expect(one.get()).rejects.toThrow(TokenError)
  await expect(one.replace('x')).rejects.toThrow(TokenError)
  expect(reasons).toEqual(['first'])
  // An empty text is no token.
  await expect(one.renew('refused')).rejects.toThrow(TokenError)
  expect(await one.renew('refused')).toBe('a')
  expect(await one.get()).toBe('a')
  expect(one.isLost).toBe(false)
  expect(changes.map((error) => error === null)).toEqual([false, false, true])
})

Deno.test('a renewal before the end may fail: the old token works until it is refused', async () => {
  const { keeper: one, changes } = keeper(['a', new Error('down'), 'b'])
  await one.get()
  await expect(one.renew('expiring')).rejects.toThrow(TokenError)
  expect([one.isLost, await one.get(), changes.length]).toEqual([false, 'a', 1])
  expect(await one.replace('a')).toBe('b')
})

Deno.test('a token that replaced a refused one and is refused too ends the asking', async () => {
  const { keeper: one, changes, reasons } = keeper(['a', 'a', 'b', 'c', 'd'])
  await one.get()
  expect(await one.replace('a')).toBe('a')
  await expect(one.replace('a')).rejects.toThrow(TokenError)
  expect([one.isLost, reasons, changes.length]).toEqual([true, ['first', 'refused'], 2])
  // After the customer has signed in, an accepted token may be refused again.
  expect(await one.renew('refused')).toBe('b')
  one.accept('b')
  expect(await one.replace('b')).toBe('c')
  one.accept('b')
  expect(one.refuse('c')).toBe(true)
})

Deno.test('a text as the source is a token without renewal', async () => {
  const errors: unknown[] = []
  const one = new TokenKeeper('a', (error) => errors.push(error))
  expect([await one.get(), one.canRenew]).toEqual(['a', false])
  await expect(one.replace('a')).rejects.toThrow(TokenError)
  expect([one.isLost, errors.length]).toEqual([true, 1])
})

Deno.test('an API that refuses each token is asked twice, and then no more', async () => {
  let requests = 0
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen(): void {} }, () => {
    requests++
    return Response.json({ title: 'no' }, { status: 401 })
  })
  const reasons: TokenReason[] = []
  const { client, keeper: one } = connect({
    ...{ url: `http://127.0.0.1:${server.addr.port}`, functionName: 'api' },
    token({ reason }): string {
      reasons.push(reason)
      return `token-${reasons.length}`
    },
    changed(): void {},
  })
  try {
    for (let i = 0; i < 5; i++) await expect(client.getSession()).rejects.toThrow()
    expect([reasons, requests, one.isLost]).toEqual([['first', 'refused'], 2, true])
  } finally {
    await server.shutdown()
  }
})

Deno.test('a connection that breaks within a text is one that may be repeated', async () => {
  const real = globalThis.fetch
  globalThis.fetch = () =>
    Promise.resolve(
      new Response(
        new ReadableStream({
          start: (stream) => {
            stream.enqueue(new TextEncoder().encode('{"data":'))
            stream.error(new TypeError('error reading a body from connection'))
          },
        }),
      ),
    )
  try {
    const { readText } = connect({
      ...{ url: 'http://project.test', functionName: 'api', token: 'a', changed: () => {} },
    })
    const error = await readText('/events/1', new AbortController().signal).catch((one) => one)
    expect(error).toBeInstanceOf(ConnectionError)
    expect(mayPass(error)).toBe(true)
  } finally {
    globalThis.fetch = real
  }
})
