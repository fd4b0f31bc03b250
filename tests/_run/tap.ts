import { type Tally, tally } from './tally.ts'

/** What one TAP stream said: its counts, and why it counts as broken beyond single tests. */
export interface TapResult {
  counts: Tally
  /** Lines of the tests that failed, and what was wrong with the stream as a whole. */
  problems: string[]
}

const testLine = /^(not )?ok\b(?:\s+(\d+))?(.*)$/
const planLine = /^1\.\.(\d+)(?:\s*#\s*skip\b.*)?$/i

/**
 * Read a TAP stream as a harness does: a missing or repeated plan, a plan that does not match, a
 * number out of order and `Bail out!` each add one failure, so that a file which dies half-way
 * can never pass. `not ok … # TODO` passes, `ok … # SKIP` counts as skipped.
 */
export function readTap(text: string): TapResult {
  const counts = tally()
  const problems: string[] = []
  const plans: number[] = []
  let seen = 0
  for (const line of text.split('\n').map((raw) => raw.trimEnd())) {
    const plan = planLine.exec(line)
    if (plan) plans.push(Number(plan[1]))
    if (/^Bail out!/i.test(line)) problems.push(line)
    const test = testLine.exec(line)
    if (!test) continue
    seen += 1
    const [, not, number, rest = ''] = test
    if (number !== undefined && Number(number) !== seen) {
      problems.push(`test ${number} came where ${seen} was expected`)
    }
    if (/#\s*skip\b/i.test(rest)) counts.skipped += 1
    else if (not === undefined || /#\s*todo\b/i.test(rest)) counts.passed += 1
    else {
      counts.failed += 1
      problems.push(line)
    }
  }
  const broken = problems.length - counts.failed + planProblems(plans, seen, problems)
  counts.failed += broken
  return { counts, problems }
}

function planProblems(plans: number[], seen: number, problems: string[]): number {
  const [planned] = plans
  if (planned === undefined) problems.push(`no plan after ${seen} tests`)
  else if (plans.length > 1) problems.push('more than one plan')
  else if (planned !== seen) problems.push(`planned ${planned} tests but ran ${seen}`)
  else return 0
  return 1
}
