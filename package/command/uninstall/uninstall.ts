import { confirm } from '@clack/prompts'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Assets } from '../init/plan.ts'
import { applySteps, readProject } from '../init/project.ts'
import { unsavedChanges } from '../init/refuse.ts'
import { exitCodes, type Terminal } from '../terminal.ts'
import { makeRemoval, type Removal, type RemovalSql } from './removal.ts'

/** The options of `outhook uninstall`. */
export interface UninstallOptions {
  project: string
  /** Whether open deliveries are dropped. */
  discard: boolean
  yes: boolean
  json: boolean
  force: boolean
}

/** Writes what removes Outhook from a project, and returns the exit code. */
export async function uninstall(
  assets: Assets & { removalSql: RemovalSql },
  options: UninstallOptions,
  terminal: Terminal,
): Promise<number> {
  const { print, printError } = terminal
  const supabase = join(options.project, 'supabase')
  const project = readProject(supabase)
  if (project === null) {
    printError(`${join(supabase, 'config.toml')} does not exist: name the folder with --project`)
    return exitCodes.failed
  }
  let removal: Removal
  try {
    const { discard } = options
    const sql = assets.removalSql
    removal = makeRemoval(assets, project, { supabase, sql, discard, now: new Date() })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    printError(`supabase/config.toml cannot be read: ${why}`)
    return exitCodes.failed
  }
  const { steps, folders } = removal
  const count = steps.length + folders.length
  if (!options.json) print(showRemoval(removal))
  const report = (applied: boolean, code: number): number => {
    const short = steps.map(({ kind, path, what }) => ({ kind, path: `supabase/${path}`, what }))
    const { byHand, notes } = removal
    const deleted = folders.map((path) => `supabase/${path}`)
    const all = { steps: short, delete: deleted, byHand, notes, applied }
    if (options.json) print(JSON.stringify(all, null, 2))
    return code
  }
  if (count === 0 || (options.json && !options.yes)) return report(false, exitCodes.done)
  const plan = { steps, byHand: [], notes: [], folders: new Map<string, string>() }
  const unsaved = options.force ? null : unsavedChanges(options.project, plan)
  if (unsaved !== null) {
    printError(unsaved.says)
    return report(false, unsaved.code)
  }
  if (!options.yes) {
    const may = terminal.isInteractive && !options.json &&
      await confirm({ message: `Carry out these ${count} steps?` }) === true
    if (!may) {
      printError('Nothing was changed: confirm it with --yes')
      return exitCodes.undecided
    }
  }
  applySteps(supabase, steps)
  for (const folder of folders) rmSync(join(supabase, folder), { recursive: true })
  if (!options.json) print(remaining(project.own.map(({ folder }) => folder)))
  return report(true, removal.byHand.length > 0 ? exitCodes.failed : exitCodes.done)
}

function showRemoval({ steps, folders, byHand, notes }: Removal): string {
  const lines = [
    ...steps.map(({ kind, path, what }) => `${kind} supabase/${path}: ${what}`),
    ...folders.map((path) => `delete supabase/${path}`),
    ...byHand.map((line) => `by hand in supabase/config.toml: ${line}`),
    ...notes,
  ]
  return lines.length === 0 ? 'The project has nothing of Outhook.' : lines.join('\n')
}

/** What a person does on the platform. */
function remaining(folders: readonly string[]): string {
  return `
Next, in this order:

1. Remove outbox from the exposed schemas (Project Settings, Data API). A Data API that exposes a
   schema that does not exist may stop to respond.
2. supabase db push
3. supabase functions delete ${folders.join(' ') || 'outhook-deliver'}, one by one
4. supabase secrets unset OUTHOOK_WORKER_SECRET

Keep the migrations: without them, a later db push would fail. The extensions pg_cron, pg_net and Vault
stay, and so does OUTHOOK_WORKER_SECRET in supabase/functions/.env.`
}
