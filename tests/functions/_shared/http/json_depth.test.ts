import { expect } from '@std/expect'
import { isDeeper } from '../../../../functions/_shared/http/json_depth.ts'

const deeper = (text: string, depth: number): boolean =>
  isDeeper(new TextEncoder().encode(text), depth)

Deno.test('isDeeper() counts objects and arrays within each other, and none of a text', () => {
  expect([deeper('{"a": [1]}', 2), deeper('{"a": [1]}', 1)]).toEqual([false, true])
  expect(deeper('[[], [], [[]]]', 3)).toBe(false)
  expect(deeper('[[], [], [[]]]', 2)).toBe(true)
  expect(deeper('{"a": "[[[[{{{{"}', 1)).toBe(false)
  // A quote behind a backslash ends no text, and one behind two does.
  expect(deeper('{"a": "\\"[[[["}', 1)).toBe(false)
  expect(deeper('{"a": "\\\\", "b": [[]]}', 2)).toBe(true)
  expect(deeper('7', 0)).toBe(false)
})
