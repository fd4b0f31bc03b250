import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { messageOf } from '../../../functions/_shared/base/errors.ts'
import { exitCodes, type Terminal } from '../terminal.ts'
import { carryOut } from './carry_out.ts'
import { askModules, defaultModules, functionsFor, ownPrefix } from './choose.ts'
import { type Assets, makePlan, type Plan, type Project } from './plan.ts'
import { readProject } from './project.ts'
import { otherVersion, type Refusal, unsavedChanges, wrongOptions } from './refuse.ts'
import { nextSteps } from './report.ts'

/** The options of `outhook init`. */
export interface InitOptions {
  project: string
  modules?: string[]
  functions?: string[]
  prefix?: string
  yes: boolean
  json: boolean
  force: boolean
}

/** Adds Outhook to a project and returns the exit code. A second run changes nothing. */
export async function init(
  assets: Assets,
  options: InitOptions,
  terminal: Terminal,
): Promise<number> {
  const refuse = ({ code, says }: Refusal): number => {
    terminal.printError(says)
    return code
  }
  const supabase = join(options.project, 'supabase')
  const project = readProject(supabase)
  if (project === null) {
    const says = `${
      join(supabase, 'config.toml')
    } does not exist: run \`supabase init\` in the project`
    return refuse({ code: exitCodes.failed, says })
  }
  const wrong = wrongOptions(assets, project, options) ?? otherVersion(assets, project)
  if (wrong !== null) return refuse(wrong)
  const mayAsk = terminal.isInteractive && !options.yes && !options.json
  const usual = defaultModules(project)
  let plan: Plan
  try {
    plan = planFor(assets, project, options, options.modules ?? usual)
    if (mayAsk && options.modules === undefined) {
      // Before the question, because the answer would be lost.
      const unsaved = options.force ? null : unsavedChanges(options.project, plan)
      if (unsaved !== null) return refuse(unsaved)
      const modules = await askModules(usual)
      if (modules === null) return exitCodes.undecided
      plan = planFor(assets, project, options, modules)
    }
  } catch (error) {
    const says = `supabase/config.toml cannot be read: ${messageOf(error)}`
    return refuse({ code: exitCodes.failed, says })
  }
  return await carryOut(plan, options, { terminal, supabase, next: nextSteps(plan.folders) })
}

function planFor(
  assets: Assets,
  project: Project,
  options: InitOptions,
  modules: string[],
): Plan {
  const { functions = functionsFor(modules) } = options
  const prefix = options.prefix ?? ownPrefix(project) ?? 'outhook'
  return makePlan(assets, project, { modules, functions, prefix }, {
    now: new Date(),
    newSecret: () => randomBytes(32).toString('hex'),
  })
}
