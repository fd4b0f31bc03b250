import { exitCodes } from '../terminal.ts'
import { moduleHints, ownPrefix } from './choose.ts'
import { changedFiles, GitError } from './git.ts'
import { newestMigrations } from './migrations.ts'
import type { Assets, Plan, Project } from './plan.ts'

/** Why nothing is written, and the exit code. */
export interface Refusal {
  code: number
  says: string
}

/** What a person may choose by options. */
interface Options {
  modules?: readonly string[]
  functions?: readonly string[]
  prefix?: string
}

/** What is wrong with the options in this project; null if nothing is. */
export function wrongOptions(
  { functions }: Assets,
  project: Project,
  options: Options,
): Refusal | null {
  const usage = (says: string): Refusal => ({ code: exitCodes.usage, says })
  const unknown = options.modules?.find((name) => !Object.hasOwn(moduleHints, name))
  if (unknown !== undefined) {
    const all = Object.keys(moduleHints).join(',')
    return usage(`There is no module ${unknown}: --modules takes ${all}`)
  }
  const missing = options.functions?.find((name) => !functions.has(name))
  if (missing !== undefined) {
    return usage(
      `There is no function ${missing}: --functions takes ${[...functions.keys()].join(',')}`,
    )
  }
  const { prefix } = options
  if (prefix === undefined) return null
  if (!/^[a-z][a-z0-9-]{0,30}$/.test(prefix)) {
    return usage('--prefix takes lower-case letters, digits and hyphens, such as outhook')
  }
  const own = ownPrefix(project)
  if (own === null || own === prefix) return null
  return usage(`The functions of this project start with ${own}: leave --prefix out`)
}

/** Why this version must not add to what the project has; null if it may. */
export function otherVersion({ version }: Assets, project: Project): Refusal | null {
  const found = [
    ...newestMigrations(project.migrations).map((one) => ({
      file: `migrations/${one.file}`,
      version: one.version,
    })),
    ...project.own.map((one) => ({ file: `functions/${one.folder}`, version: one.version })),
  ].find((one) => one.version !== null && one.version !== version)
  if (found === undefined) return null
  return {
    code: exitCodes.failed,
    says:
      `supabase/${found.file} is of Outhook ${found.version}, but this command is of version ${version}. ` +
      `Run outhook upgrade first, or add modules with the command of version ${found.version}`,
  }
}

/**
 * Why the plan must not be carried out: it would change a file that has changes already, which nobody
 * could tell apart from those of init. `functions/.env` gets one line and is in no commit.
 */
export function unsavedChanges(folder: string, { steps }: Plan): Refusal | null {
  const paths = steps.filter(({ kind, isSecret }) => kind !== 'create' && isSecret !== true)
    .map(({ path }) => `supabase/${path}`)
  if (paths.length === 0) return null
  const refuse = (why: string): Refusal => ({
    code: exitCodes.undecided,
    says: `${why}, so that you can see and undo what this command does, or add --force`,
  })
  try {
    const changed = changedFiles(folder, paths) ?? []
    if (changed.length === 0) return null
    return refuse(
      `There are uncommitted changes (${changed.join(', ')}). Commit them first`,
    )
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    return refuse(`Git cannot say what is changed (${error.message}). Correct the cause first`)
  }
}
