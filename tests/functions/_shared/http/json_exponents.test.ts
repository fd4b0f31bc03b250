import { expect } from '@std/expect'
import { isLongerWritten } from '../../../../functions/_shared/http/json_exponents.ts'

function isLonger(text: string, most: number): boolean {
  return isLongerWritten(new TextEncoder().encode(text), most)
}

Deno.test('isLongerWritten() adds up the exponents of all numbers, whatever their signs', () => {
  for (const text of ['1e9', '1E9', '1.5e+9', '-1e-9', '[1e4,{"a":1e-5}]', '[1e004, 1e5]']) {
    expect([text, isLonger(text, 9), isLonger(text, 8)]).toEqual([text, false, true])
  }
})

Deno.test('isLongerWritten() counts no exponent in texts, names, words and plain numbers', () => {
  const text = '{"1e99":"2e99","a\\"3e99":[true,false,null,12345678901234567890,0.0000001]}'
  expect(isLonger(text, 0)).toBe(false)
})

Deno.test('isLongerWritten() returns for exponents of any length, and for any bytes', () => {
  expect(isLonger(`1e${'9'.repeat(1000)}`, 1000)).toBe(true)
  for (const text of ['', 'e', '1e', '1e+', '"1e9', '\\']) expect(isLonger(text, 0)).toBe(false)
})
