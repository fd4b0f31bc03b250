/** How one test file ended, once. */
export type TestOutcome =
  | { kind: 'passed' | 'failed' | 'timeout'; seconds: number; output: string }
  | { kind: 'refused'; seconds: number; output: string }

/** What became of a mutant. */
export type Verdict =
  | { kind: 'killed' | 'killed by timeout'; by: string }
  | { kind: 'survived' | 'equivalent' }
  | { kind: 'error'; reason: string }

/** Runs one named test, with the mutant's statements in the database or its change in the tree. */
export type RunTest = (entry: string, limitMs: number) => Promise<TestOutcome>

/** How long a test may take that passed in so many seconds without the mutant. */
export function limitMs(seconds: number): number {
  return 20_000 + seconds * 4_000
}

/** How the tests go: without the mutant, asked once for each, and with it. */
export interface Trial {
  without(entry: string): Promise<TestOutcome>
  with: RunTest
}

/** Runs the named tests in turn, until one of them does not pass. */
export async function judge(entries: readonly string[], trial: Trial): Promise<Verdict> {
  for (const entry of entries) {
    const before = await trial.without(entry)
    if (before.kind !== 'passed') {
      return { kind: 'error', reason: `${entry} does not pass without the mutant` }
    }
    const { kind, output } = await trial.with(entry, limitMs(before.seconds))
    if (kind === 'refused') return { kind: 'error', reason: output }
    if (kind === 'failed') return { kind: 'killed', by: entry }
    if (kind === 'timeout') return { kind: 'killed by timeout', by: entry }
  }
  return { kind: 'survived' }
}
