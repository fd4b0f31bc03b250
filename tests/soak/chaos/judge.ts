/** Looks at a world that has come to rest until the last of what is counted late is counted. */

import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { check } from './checker.ts'
import type { Evidence, Violation } from './evidence.ts'

/** What was found, and the evidence of the first finding; that of the last look if there is none. */
export interface Judgement {
  evidence: Evidence
  violations: Violation[]
}

/** Only the counters may become right later. All else must hold at each look. */
function isLate({ promise }: Violation): boolean {
  return promise === 'counters'
}

/**
 * Looks again for at most `timeoutMs` while only the counters differ or something else was found beside them. A
 * finding about anything else stays, also if a later look is clean. Of the counters, the last look counts.
 */
export async function judge(
  look: () => Promise<Evidence>,
  { timeoutMs, everyMs }: { timeoutMs: number; everyMs: number },
): Promise<Judgement> {
  const lasting = new Map<string, Violation>()
  let first: Evidence | null = null
  let last: Evidence | null = null
  let late: Violation[] = []
  await waitUntil(async () => {
    last = await look()
    const found = check(last)
    for (const one of found.filter((one) => !isLate(one))) {
      first ??= last
      lasting.set(`${one.promise}: ${one.what}`, one)
    }
    late = found.filter(isLate)
    return late.length === 0
  }, { timeoutMs, everyMs })
  const evidence = first ?? last
  if (evidence === null) throw new Error('nothing was looked at')
  return { evidence, violations: [...lasting.values(), ...late] }
}
