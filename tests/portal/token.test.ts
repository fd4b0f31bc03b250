/** When the portal asks the app around it for a token. */

import { expect } from '@std/expect'
import { TokenError } from '../../portal/element/app/failure.ts'
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
  expect([one.isLost, await one.get(), changes.length]).toEqual([false, 'a', 2])
  expect(await one.replace('a')).toBe('b')
})
