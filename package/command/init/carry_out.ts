import { messageOf } from '../../../functions/_shared/base/errors.ts'
import { exitCodes, type Terminal } from '../terminal.ts'
import { askToApply } from './choose.ts'
import type { Plan } from './plan.ts'
import { applySteps } from './project.ts'
import { type Refusal, unsavedChanges } from './refuse.ts'
import { showPlan } from './report.ts'

/**
 * Shows a plan, asks, and carries it out; returns the exit code. `next`: what remains to be done, for
 * a person.
 */
export async function carryOut(
  plan: Plan,
  options: { project: string; yes: boolean; json: boolean; force: boolean },
  { terminal, supabase, next }: { terminal: Terminal; supabase: string; next: string },
): Promise<number> {
  const { print, printError } = terminal
  const mayAsk = terminal.isInteractive && !options.yes && !options.json
  const refuse = ({ code, says }: Refusal): number => {
    printError(says)
    return code
  }
  const report = (applied: boolean, code: number): number => {
    if (options.json) print(showPlan(plan, { json: true, applied }))
    return code
  }
  const ended = plan.byHand.length > 0 ? exitCodes.failed : exitCodes.done
  if (!options.json) print(showPlan(plan, { json: false, applied: false }))
  if (plan.steps.length === 0 || (options.json && !options.yes)) return report(false, ended)
  const unsaved = options.force ? null : unsavedChanges(options.project, plan)
  if (unsaved !== null) return report(false, refuse(unsaved))
  if (!options.yes && !mayAsk) {
    printError('Nothing was written, because nobody can confirm the plan: add --yes')
    return exitCodes.undecided
  }
  if (!options.yes && !await askToApply(plan.steps.length)) return exitCodes.undecided
  try {
    applySteps(supabase, plan.steps)
  } catch (error) {
    const says = `A file cannot be written (${
      messageOf(error)
    }): correct the cause, and run the command again`
    return report(false, refuse({ code: exitCodes.failed, says }))
  }
  if (!options.json) print(next)
  return report(true, ended)
}
