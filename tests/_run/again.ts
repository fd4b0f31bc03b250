import { printRaw } from '../../supabase/local/print.ts'
import { partMark } from './leftovers.ts'
import { lineOf, runPart, type StepResult } from './run_steps.ts'
import type { StepContext } from './step.ts'
import { add, tally } from './tally.ts'

/** What came of the second run of failed parts. */
export interface Again {
  /** The results, in which a part that passed the second time has its second result. */
  results: StepResult[]
  /** What failed only the first time: the causes. */
  passedAgain: string[]
}

/**
 * Runs failed parts once more, one after the other and with nothing beside them. A failure that depends on load
 * passes then, and is told as such. More than `limit` failed parts are no accident: none of them runs again.
 */
export async function runFailedAgain(
  results: readonly StepResult[],
  limit: number,
  context: StepContext,
  stopped: () => boolean,
): Promise<Again> {
  const failed = results.flatMap(({ parts }) => parts.filter(({ counts }) => counts.failed > 0))
  if (failed.length === 0 || failed.length > limit) {
    return { results: [...results], passedAgain: [] }
  }
  const second = new Map<unknown, StepResult['parts'][number]>()
  for (const first of failed) {
    if (stopped()) break
    const begun = performance.now()
    const mark = partMark(context.mark, `again${second.size}`)
    const { result, output } = await runPart(first.part, context, mark)
    const seconds = (performance.now() - begun) / 1000
    printRaw(output + lineOf(`again, alone: ${first.part.name}`, result.counts, seconds, ''))
    second.set(first, { ...result, part: first.part })
  }
  const passedAgain = failed.filter((first) => second.get(first)?.counts.failed === 0)
  return {
    results: results.map((step) => {
      const parts = step.parts.map((part) => {
        const later = second.get(part)
        return later?.counts.failed === 0 ? later : part
      })
      return { ...step, parts, counts: parts.map(({ counts }) => counts).reduce(add, tally()) }
    }),
    passedAgain: passedAgain.flatMap(({ causes }) => causes),
  }
}
