import { readDenoSummary } from '../_run/deno_summary.ts'
import { runMark, stopLeftovers } from '../_run/leftovers.ts'
import { run } from '../_run/processes.ts'
import { namePattern } from '../_run/selection.ts'
import type { TestOutcome } from './outcome.ts'

/** Runs a test file of the copy at `root`, up to its first failure, and ends all that it started. */
export async function runDenoTest(
  root: string,
  { path, words, limitMs }: { path: string; words: string | null; limitMs: number },
): Promise<TestOutcome> {
  const mark = crypto.randomUUID()
  const started = performance.now()
  let late = false
  const timer = setTimeout(() => {
    late = true
    void stopLeftovers(mark, 0)
  }, limitMs)
  marks.add(mark)
  const filter = words === null ? [] : [`--filter=/(?i:${namePattern([words]).source})/`]
  const { code, output } = await run({
    path: Deno.execPath(),
    args: ['test', '--quiet', '-A', '--cached-only', '--no-check', '--fail-fast', ...filter, path],
    cwd: root,
    env: { [runMark]: mark, NO_COLOR: '1' },
  })
  clearTimeout(timer)
  await stopLeftovers(mark, 1_000)
  marks.delete(mark)
  const seconds = (performance.now() - started) / 1000
  if (late) return { kind: 'timeout', seconds, output }
  const { passed, failed } = readDenoSummary(output, code)
  return { kind: failed === 0 && passed > 0 ? 'passed' : 'failed', seconds, output }
}

const marks = new Set<string>()

/** Ends every test that still runs. */
export async function stopDenoTests(): Promise<void> {
  await Promise.all([...marks].map((mark) => stopLeftovers(mark, 0)))
}
