import { expect } from '@std/expect'
import { readDenoSummary } from '../_run/deno_summary.ts'
import { exitCode, tally, tallyLine } from '../_run/tally.ts'

Deno.test('readDenoSummary() counts tests, not their steps', () => {
  const output = 'x ... ok (1ms)\n\nok | 5 passed (7 steps) | 0 failed | 2 ignored (3s)\n'
  expect(readDenoSummary(output, 0)).toEqual({ passed: 5, failed: 0, skipped: 2 })
})

Deno.test('readDenoSummary() believes the last summary when tests print one themselves', () => {
  const output = 'ok | 9 passed | 0 failed (1ms)\n\nFAILED | 1 passed | 2 failed (1ms)\n'
  expect(readDenoSummary(output, 1)).toEqual({ passed: 1, failed: 2, skipped: 0 })
})

Deno.test('readDenoSummary() counts a failure when Deno ended badly and no test failed', () => {
  expect(readDenoSummary('ok | 5 passed | 0 failed (3s)\n', 1).failed).toBe(1)
})

Deno.test('readDenoSummary() counts a failure when there is no summary', () => {
  expect(readDenoSummary('error: Module not found', 0)).toEqual(tally({ failed: 1 }))
})

Deno.test('exitCode() is 1 when nothing ran', () => {
  expect(exitCode(tally())).toBe(1)
  expect(exitCode(tally({ skipped: 3 }))).toBe(1)
  expect(exitCode(tally({ passed: 1 }))).toBe(0)
  expect(exitCode(tally({ passed: 1, failed: 1 }))).toBe(1)
})

Deno.test('tallyLine() has the form that CI reads', () => {
  expect(tallyLine(tally({ passed: 12 }))).toBe('12 passed, 0 failed')
  expect(tallyLine(tally({ passed: 1, failed: 2, skipped: 3 }))).toBe(
    '1 passed, 2 failed, 3 skipped',
  )
})
