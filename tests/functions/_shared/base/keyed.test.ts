import { expect } from '@std/expect'
import { z } from 'zod'
import { keyed } from '../../../../functions/_shared/base/keyed.ts'

const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'x-plain']

/** As JSON.parse makes it: each name is a member of its own. */
function recordOf(value: unknown): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, value]))
}

Deno.test('keyed() keeps each name that an object already has', () => {
  const read = keyed(z.string(), z.string()).parse(recordOf('v'))
  expect(Object.keys(read).sort()).toEqual([...names].sort())
  expect(JSON.parse(JSON.stringify(read))).toEqual(recordOf('v'))
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
  expect(read['__proto__']).toBe('v')
})

Deno.test('keyed() checks the name and the value of __proto__', () => {
  const proto = Object.fromEntries([['__proto__', 7]])
  expect(keyed(z.string(), z.string()).safeParse(proto).success).toBe(false)
  expect(keyed(z.string().regex(/^[a-z]+$/), z.number()).safeParse(proto).success).toBe(false)
  expect(keyed(z.string(), z.number()).safeParse(proto).success).toBe(true)
})

Deno.test('keyed() refuses what is no object, and reads one without special names as z.record() does', () => {
  for (const value of [null, 'text', 7, ['a']]) {
    expect(keyed(z.string(), z.unknown()).safeParse(value).success).toBe(false)
  }
  expect(keyed(z.string(), z.string()).parse({ a: 'b' })).toEqual({ a: 'b' })
})
