import { expect } from '@std/expect'
import { readTap } from '../_run/tap.ts'

const cases: { when: string; text: string; passed: number; failed: number; skipped?: number }[] = [
  { when: 'all is well', text: '1..2\nok 1 - a\nok 2 - b', passed: 2, failed: 0 },
  { when: 'a test fails', text: '1..2\nok 1 - a\nnot ok 2 - b', passed: 1, failed: 1 },
  { when: 'the plan comes last', text: 'ok 1 - a\n1..1', passed: 1, failed: 0 },
  { when: 'the file dies half-way', text: '1..3\nok 1 - a', passed: 1, failed: 1 },
  { when: 'too many tests ran', text: '1..1\nok 1\nok 2', passed: 2, failed: 1 },
  { when: 'there is no plan', text: 'ok 1 - a', passed: 1, failed: 1 },
  { when: 'there are two plans', text: '1..1\nok 1 - a\n1..1', passed: 1, failed: 1 },
  { when: 'nothing was printed', text: '', passed: 0, failed: 1 },
  { when: 'a number is missing', text: '1..2\nok 1 - a\nok 3 - c', passed: 2, failed: 1 },
  { when: 'it bails out', text: '1..1\nok 1 - a\nBail out! no database', passed: 1, failed: 1 },
  { when: 'a failure is a todo', text: '1..1\nnot ok 1 - a # TODO later', passed: 1, failed: 0 },
  { when: 'a test is skipped', text: '1..1\nok 1 # SKIP pg 17', passed: 0, failed: 0, skipped: 1 },
  { when: 'diagnostics say ok', text: '1..1\n# ok 1\n# not ok\nok 1 - a', passed: 1, failed: 0 },
]

for (const { when, text, passed, failed, skipped = 0 } of cases) {
  Deno.test(`readTap() counts when ${when}`, () => {
    expect(readTap(text).counts).toEqual({ passed, failed, skipped })
  })
}

Deno.test('readTap() names each failed test and each fault of the stream', () => {
  expect(readTap('1..3\nnot ok 1 - order\nok 2').problems).toEqual([
    'not ok 1 - order',
    'planned 3 tests but ran 2',
  ])
})
