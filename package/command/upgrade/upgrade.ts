import { join } from 'node:path'
import { carryOut } from '../init/carry_out.ts'
import type { Assets } from '../init/plan.ts'
import { readProject } from '../init/project.ts'
import { exitCodes, type Terminal } from '../terminal.ts'
import { makeUpgrade, type UpgradeAssets } from './plan.ts'

/** The options of `outhook upgrade`. */
export interface UpgradeOptions {
  project: string
  yes: boolean
  json: boolean
  force: boolean
}

/** Upgrades the files of a project by one version, and returns the exit code. */
export async function upgrade(
  assets: Assets & { upgrade: UpgradeAssets | null },
  options: UpgradeOptions,
  terminal: Terminal,
): Promise<number> {
  const supabase = join(options.project, 'supabase')
  const project = readProject(supabase)
  if (project === null) {
    terminal.printError(
      `${join(supabase, 'config.toml')} does not exist: name the folder with --project`,
    )
    return exitCodes.failed
  }
  const plan = makeUpgrade(assets, project, new Date())
  if ('says' in plan) {
    terminal.printError(plan.says)
    return plan.code
  }
  const next = nextSteps(project.own.map(({ folder }) => folder))
  return await carryOut(plan, options, { terminal, supabase, next })
}

/** Either order works, because versions that are one apart work together. */
function nextSteps(folders: readonly string[]): string {
  return `
Next: outhook deploy, which pushes the migrations and deploys the functions. Or by hand:

  supabase db push
  supabase functions deploy ${folders.join(' ') || 'outhook-deliver'}

Restart the workers, if you have any. outhook status shows the version of each module.`
}
