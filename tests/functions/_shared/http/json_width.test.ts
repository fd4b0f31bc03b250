import { expect } from '@std/expect'
import { isWider } from '../../../../functions/_shared/http/json_width.ts'

function of(value: unknown): Uint8Array {
  return new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
}

function wide(members: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: members }, (_, n) => [`k${n}`, n]))
}

Deno.test('isWider() counts the members of each object by itself', () => {
  expect(isWider(of(wide(10)), 10)).toBe(false)
  expect(isWider(of(wide(11)), 10)).toBe(true)
  expect(isWider(of(Array(100).fill(wide(10))), 10)).toBe(false)
  expect(isWider(of({ a: [{ b: wide(11) }] }), 10)).toBe(true)
  expect(isWider(of({ ...wide(8), in: wide(10), after: [wide(10)] }), 10)).toBe(false)
  expect(isWider(of({ ...wide(9), in: wide(10), after: 1 }), 10)).toBe(true)
})

Deno.test('isWider() ignores colons and braces inside strings', () => {
  expect(isWider(of({ text: ':'.repeat(100) + '{"\\' }), 10)).toBe(false)
  expect(isWider(of(`{"a\\":": 1, "b" : 2}`), 1)).toBe(true)
})

Deno.test('isWider() returns for any bytes', () => {
  for (const text of ['', ':', '}}}]]]:', '{"', '"\\']) expect(isWider(of(text), 10)).toBe(false)
})
