import { type Tally, tally } from './tally.ts'

const summary = /^(?:ok|FAILED) \| (\d+) passed(?: \([^)]*\))? \| (\d+) failed(.*)$/gm

/**
 * Count one `deno test` by the last summary line of its output and its exit code. An error outside
 * of any test (a module that does not load, a process that died) has no line of its own or leaves
 * the failed count at zero: it counts as one failure, so that it can never pass for success.
 */
export function readDenoSummary(output: string, code: number): Tally {
  const last = [...output.matchAll(summary)].at(-1)
  if (last === undefined) return tally({ failed: 1 })
  const [, passed, failed, rest = ''] = last
  const counts = tally({
    passed: Number(passed),
    failed: Number(failed),
    skipped: Number(/\| (\d+) ignored/.exec(rest)?.[1] ?? 0),
  })
  if (code !== 0 && counts.failed === 0) counts.failed = 1
  return counts
}
