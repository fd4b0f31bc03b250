/** A problem of the database in two parts: what is wrong, and what to do. */
export interface Remedy {
  what: string
  todo: string
  /** The page that shows more of it. */
  to: string | null
}

const runbook = 'sql/ops/RUNBOOK.md'

/** The first words of the problem that work has been due for too long. */
export const dueProblem = 'events or deliveries have been due'

/** What to do about problems whose text does not say it, by their first words. */
export const remedies: readonly (readonly [begins: string, todo: string, to: string | null])[] = [
  [
    'delivery is switched off',
    "To switch it on: select outbox.set_setting('worker.enabled', 'true');",
    null,
  ],
  [
    dueProblem,
    'Look at the runs. If none is alive, follow “Nothing moves” in the runbook; if one is alive, ' +
    `follow “Falling behind”: ${runbook}.`,
    '/runs',
  ],
]

/** Sections of the runbook that are about the runs. */
export const aboutRuns: readonly string[] = [
  'No run',
  'No sender',
  'Two versions',
  'Kicks wait',
  'No tick',
]

/** Splits the text of a problem; many name their section of the runbook. */
export function remedyOf(problem: string): Remedy {
  const [, text = problem, section] = /^(.*?) \(runbook: ([^)]+)\)$/s.exec(problem) ?? []
  const what = `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
  const known = remedies.find(([begins]) => problem.startsWith(begins))
  if (known !== undefined) return { what, todo: known[1], to: known[2] }
  if (section === undefined) {
    return { what, todo: `The runbook has the steps: ${runbook}.`, to: null }
  }
  return {
    what,
    todo: `The runbook has the steps under “${section}”: ${runbook}.`,
    to: aboutRuns.includes(section) ? '/runs' : null,
  }
}
