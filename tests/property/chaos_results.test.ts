/** The sums of many runs of `task soak chaos`. */

import { expect } from '@std/expect'
import { mergeRuns, type Run, tellFaults, tellRuns } from '../soak/chaos/results.ts'

const run: Run = {
  ...{ seed: 1, minutes: 2, at: '2026-01-01T00:00:00Z' },
  faults: { 'read only': 2, 'disk full': 3 },
  ...{ events: 100, requests: 700, settledMs: 12_345, broken: [] },
}
const other: Run = { ...run, seed: 2, faults: { 'read only': 4 }, broken: ['order'] }

Deno.test('tellFaults() names each kind, the most frequent first', () => {
  expect(tellFaults(run.faults)).toBe('disk full 3, read only 2')
})

Deno.test('mergeRuns() takes each run once', () => {
  expect(mergeRuns([run], [run, other])).toEqual([run, other])
})

Deno.test('tellRuns() adds up runs and kinds, also a kind that never came', () => {
  const lines = tellRuns([run, other], ['disk full', 'read only', 'vacuum']).split('\n')
  expect(lines).toContain('| 2 | 2 | 4 | 100 | 700 | 12.3 | order |')
  expect(lines).toContain('| all | 4 | 9 | 200 | 1400 | | |')
  expect(lines.slice(-3)).toEqual(['| disk full | 3 |', '| read only | 6 |', '| vacuum | 0 |'])
})
