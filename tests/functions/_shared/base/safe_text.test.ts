import { expect } from '@std/expect'
import { safeString, safeText } from '../../../../functions/_shared/base/safe_text.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

Deno.test('safeText() keeps valid UTF-8 as it is', () => {
  expect(safeText(encode('Zürich 🚲\n'))).toEqual({ text: 'Zürich 🚲\n', lossy: false })
})

Deno.test('safeText() replaces invalid UTF-8, removes NUL, and reports it as lossy', () => {
  expect(safeText(new Uint8Array([0x61, 0xff, 0x62]))).toEqual({ text: 'a\ufffdb', lossy: true })
  expect(safeText(encode('a\0b'))).toEqual({ text: 'ab', lossy: true })
})

Deno.test('safeText() leaves out a character that the cut has halved', () => {
  const bytes = encode('ab🚲').slice(0, 4)
  expect(safeText(bytes, { cut: true })).toEqual({ text: 'ab', lossy: false })
  expect(safeText(bytes)).toEqual({ text: 'ab\ufffd', lossy: true })
})

Deno.test('safeString() cuts, removes NUL and replaces halves of pairs', () => {
  expect(safeString('a\0b🚲', 4)).toBe('ab\ufffd')
  expect(safeString('12345', 3)).toBe('123')
})
