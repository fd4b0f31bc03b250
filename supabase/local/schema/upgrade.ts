import { generatedMark, type SqlFile } from './migration.ts'
import { type Code, readCode } from './upgrade_code.ts'

/** What is needed to upgrade a module from one version to the next. */
export interface ModuleUpgrade {
  name: string
  from: string
  to: string
  /** The files of the module in both versions. */
  before: readonly SqlFile[]
  after: readonly SqlFile[]
  /** What nobody can derive from the files, such as a new column: sql/upgrades/<version>/<module>/. */
  steps: SqlFile | null
  /** The names of functions that the upgrades of the modules before it replace. */
  replaced: ReadonlySet<string>
}

/** A built upgrade of a module. */
export interface Upgrade {
  text: string
  /** The names of the functions that it replaces. */
  replaced: ReadonlySet<string>
  /** New or changed statements that are neither of functions nor of views: the steps must have them. */
  byHand: string[]
}

/**
 * Builds the migration that upgrades a module: the steps, then each function and view that is new or
 * changed, whole, then the rights of the changed folders. A function whose arguments or result
 * changed is dropped first. A function that replaces one of an earlier module is replaced again,
 * because the upgrade of that module may have put its own back.
 */
export function buildUpgrade(module: ModuleUpgrade): Upgrade {
  const before = readAll(module.before)
  const after = readAll(module.after)
  const known = new Set(before.map(({ text }) => text))
  const changed = after.filter((code) =>
    !known.has(code.text) || (code.kind === 'function' && module.replaced.has(code.name))
  )
  const written = changed.filter(({ kind }) => kind !== 'other')
  const lines = [
    `${generatedMark}: change sql/ and sql/upgrades/, then build again.`,
    `-- Module ${module.name}, from version ${module.from} to ${module.to}.`,
    '',
    '-- Those who wait behind this transaction wait no longer than that. Then push again. Less than',
    '-- deadlock_timeout (1 s): if it crosses another transaction, this one ends and not the other.',
    "set local lock_timeout = '500ms';",
    'set local check_function_bodies = off;',
    ...module.name === 'core' ? [] : [`select outbox.check_module('core', '${module.to}');`],
    `select outbox.check_module('${module.name}', '${module.from}');`,
    ...module.steps === null ? [] : ['', `-- ${module.steps.path}`, '', module.steps.text.trim()],
    ...section(dropped(before, after)),
    ...written.flatMap(({ path, replacement }, at) => [
      ...written[at - 1]?.path === path ? [''] : ['', `-- ${path}`, ''],
      `${replacement};`,
    ]),
    ...rights(module, changed),
    '',
    'select outbox.close_new();',
    `select outbox.record_module('${module.name}');`,
  ]
  return {
    text: `${lines.join('\n')}\n`,
    replaced: new Set(written.flatMap(({ kind, name }) => kind === 'function' ? [name] : [])),
    byHand: changed.flatMap(({ kind, path, text }) =>
      kind === 'other' && !isRights(path) ? [`${path}: ${firstLine(text)}`] : []
    ),
  }
}

function readAll(files: readonly SqlFile[]): Code[] {
  return files.flatMap(readCode)
}

/** The functions that are gone, or that `create or replace` cannot change. */
function dropped(before: readonly Code[], after: readonly Code[]): string[] {
  const kept = new Set(after.map(({ signature }) => signature))
  return before.flatMap(({ signature, drop }) =>
    signature === '' || kept.has(signature) ? [] : drop
  )
    .reverse()
}

function section(statements: readonly string[]): string[] {
  return statements.length === 0 ? [] : ['', ...statements]
}

/** The files `rights` of the folders in which something changed. They can be applied again. */
function rights({ after }: ModuleUpgrade, changed: readonly Code[]): string[] {
  return after.filter(({ path }) => isRights(path))
    .filter(({ path }) => {
      const folder = path.slice(0, -'rights.sql'.length)
      return changed.some((code) => code.path.startsWith(folder))
    })
    .flatMap(({ path, text }) => ['', `-- ${path}`, '', text.trim()])
}

function isRights(path: string): boolean {
  return path.endsWith('/rights.sql')
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}
