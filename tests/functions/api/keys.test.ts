import { expect } from '@std/expect'
import { createKeyLookup } from '../../../functions/api/auth/keys.ts'

Deno.test('createKeyLookup() names the key that equals the text, and no empty one', () => {
  const nameOf = createKeyLookup([
    { name: 'one', key: 'sb_secret_one' },
    { name: 'two', key: 'sb_secret_two' },
    { name: 'empty', key: '' },
  ])
  expect([nameOf('sb_secret_one'), nameOf('sb_secret_two')]).toEqual(['one', 'two'])
  for (const text of ['', 'sb_secret_', 'sb_secret_one ', 'SB_SECRET_ONE']) {
    expect([text, nameOf(text)]).toEqual([text, null])
  }
})
