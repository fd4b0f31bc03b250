import { expect } from '@std/expect'
import { findUnfitText } from '../../../functions/api/unfit_text.ts'

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
  Deno.test(`findUnfitText() gives ${path} for ${JSON.stringify(value)}`, () => {
    expect(findUnfitText(value)).toBe(path)
  })
}

Deno.test('findUnfitText() passes over what is spared', () => {
  const body = { payload: '\0', type: '\0' }
  expect(findUnfitText(body, (path) => path === 'payload')).toBe('type')
})
