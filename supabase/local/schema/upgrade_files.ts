import { join } from 'node:path'
import { exists } from '../exists.ts'
import { readModule, type SqlFile } from './migration.ts'
import { readOrder } from './order.ts'
import { compareVersions, lastRelease, projectVersion, type Release } from './release.ts'
import { buildUpgrade } from './upgrade.ts'

/** The migrations of an upgrade. */
export interface UpgradeFiles {
  files: SqlFile[]
  /** Changed statements whose object no step of their module names. */
  byHand: string[]
}

/**
 * Builds the migrations that upgrade a database from a release to the project at `root`, one for
 * each module of the release. A module that the release does not have is installed as a whole.
 */
export async function buildUpgradeFiles(root: string, release: Release): Promise<UpgradeFiles> {
  const version = await projectVersion(root)
  const files: SqlFile[] = []
  const byHand: string[] = []
  const replaced = new Set<string>()
  for (const [at, module] of (await readOrder(root)).entries()) {
    const before = release.modules.get(module.name)
    if (before === undefined) continue
    const steps = await readSteps(root, version, module.name)
    const upgrade = buildUpgrade({
      name: module.name,
      from: release.version,
      to: version,
      before,
      after: await readModule(root, module),
      steps,
      replaced,
    })
    files.push({ path: upgradePath(version, at, module.name), text: upgrade.text })
    byHand.push(...upgrade.byHand.filter((statement) => !isNamed(statement, steps?.text ?? '')))
    upgrade.replaced.forEach((name) => replaced.add(name))
  }
  return { files, byHand }
}

/**
 * Writes the upgrade from the last release to the project at `root`; with `check`, only compares it.
 * Nothing is to be built before the first release, and while the project has the version of the last
 * one.
 */
export async function writeUpgrade(root: string, check: boolean): Promise<UpgradeOutcome | null> {
  const release = await lastRelease(root)
  if (release === null || compareVersions(await projectVersion(root), release.version) <= 0) {
    return null
  }
  const { files, byHand } = await buildUpgradeFiles(root, release)
  const missing = byHand.length === 0 ? '' : '\nThese changes need a step in ' +
    `sql/upgrades/<version>/<module>/:\n  ${byHand.join('\n  ')}`
  const differing: SqlFile[] = []
  for (const file of files) {
    const path = join(root, file.path)
    if (!await exists(path) || await Deno.readTextFile(path) !== file.text) differing.push(file)
  }
  const paths = differing.map(({ path }) => path).join(', ')
  if (check && paths !== '') {
    return { code: 1, message: `${paths} differ from sql/: run \`deno task db:build\`${missing}` }
  }
  for (const { path, text } of differing) await Deno.writeTextFile(join(root, path), text)
  const what = paths === '' ? `The upgrade from ${release.version} is up to date` : `Built ${paths}`
  return { code: missing === '' ? 0 : 1, message: what + missing }
}

/**
 * Whether the steps name what a statement changes. They may still miss a column of it: an upgraded
 * database is compared with a new one for that.
 */
function isNamed(statement: string, steps: string): boolean {
  const names = namesIn(statement)
  if (names.length === 0) return steps.includes(statement.split(': ', 2)[1] ?? '')
  const known = new Set(namesIn(steps))
  return names.every((name) => known.has(name))
}

function namesIn(text: string): string[] {
  return text.match(/outbox\.\w+/g) ?? []
}

/** The exit code of a build, and what to print. */
export interface UpgradeOutcome {
  code: 0 | 1
  message: string
}

/** Where the upgrade of a module to a version is: after those of all earlier versions. */
export function upgradePath(version: string, at: number, module: string): string {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  if (major > 27 || minor > 23 || patch > 59 || at > 59) {
    throw new Error(`the name of a migration has no place for version ${version}`)
  }
  const stamp = [major + 1, minor, patch, at].map((one) => String(one).padStart(2, '0')).join('')
  return `supabase/migrations/202602${stamp}_outhook_${module}_${version}.sql`
}

/**
 * The steps of a module: the files of the folder sql/upgrades/<version>/<module>/ by their names. Changes
 * that are made side by side are files of their own.
 */
async function readSteps(root: string, version: string, module: string): Promise<SqlFile | null> {
  const path = `sql/upgrades/${version}/${module}`
  if (!await exists(join(root, path))) return null
  const names = (await Array.fromAsync(Deno.readDir(join(root, path)))).map(({ name }) => name)
  const texts = names.filter((name) => name.endsWith('.sql')).sort()
    .map((name) => Deno.readTextFile(join(root, path, name)))
  return { path, text: (await Promise.all(texts)).join('\n') }
}
