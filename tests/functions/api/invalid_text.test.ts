import { expect } from '@std/expect'
import { findInvalidText } from '../../../functions/api/invalid_text.ts'

for (
  const [value, path] of [
    [{ reason: 'a\0' }, 'reason'],
    [{ reason: 'a\ud800' }, 'reason'],
    [{ a: [1, { b: '\udc00' }] }, 'a.1.b'],
    [{ a: { '\0': 1 } }, 'a'],
    ['\0', ''],
    [{ reason: 'fine \u{1f4a9}', more: [null, true, 1] }, null],
    [null, null],
  ] as const
) {
  Deno.test(`findInvalidText() gives ${path} for ${JSON.stringify(value)}`, () => {
    expect(findInvalidText(value)).toBe(path)
  })
}

Deno.test('findInvalidText() passes over what is spared', () => {
  const body = { payload: '\0', type: '\0' }
  expect(findInvalidText(body, (path) => path === 'payload')).toBe('type')
})
