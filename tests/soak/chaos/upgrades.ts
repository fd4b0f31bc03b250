/**
 * New versions of the schema of the project, one after the other: each has a step for a table and one for a
 * partitioned index, and replaces all functions. They are built as those of a release.
 */

import type { SqlFile } from '../../../supabase/local/schema/migration.ts'
import { type Release, releaseOf } from '../../../supabase/local/schema/release.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { readCode } from '../../../supabase/local/schema/upgrade_code.ts'
import { buildUpgrade } from '../../../supabase/local/schema/upgrade.ts'

/** A version, and the migrations that lead to it from the one before, by module. */
export interface NextVersion {
  release: Release
  migrations: ReadonlyMap<string, string>
}

/** The schema of the project as it is. */
export async function firstVersion(): Promise<Release> {
  return await releaseOf(projectRoot)
}

/** The version after `before`. */
export function nextVersion(before: Release): NextVersion {
  const [major = 0, minor = 0] = before.version.split('.').map(Number)
  const version = `${major}.${minor + 1}.0`
  const modules = new Map<string, SqlFile[]>()
  const migrations = new Map<string, string>()
  const replaced = new Set<string>()
  for (const [name, files] of before.modules) {
    const after = files.map(({ path, text }) => ({
      path,
      text: changed(text, before.version, version),
    }))
    const upgrade = buildUpgrade({
      ...{ name, from: before.version, to: version, before: files, after, replaced },
      steps: name === 'core' ? steps(version) : null,
    })
    upgrade.replaced.forEach((one) => replaced.add(one))
    modules.set(name, after)
    migrations.set(name, upgrade.text)
  }
  return { release: { version, modules }, migrations }
}

/** The statements that replace each function by that of the same version. */
export function replaceFunctions({ modules }: Release): string {
  const functions = [...modules.values()].flat().flatMap(readCode)
    .filter(({ kind }) => kind === 'function')
  return [...functions.map(({ replacement }) => replacement), 'select outbox.close_new()']
    .join(';\n')
}

/** Each function has another text in each version. */
function changed(text: string, from: string, to: string): string {
  return text.replaceAll(`'version', '${from}'`, `'version', '${to}'`)
    .replaceAll(/^as \$\$\n(?:-- Version [\d.]+\n)?/gm, `as $$$$\n-- Version ${to}\n`)
}

function steps(version: string): SqlFile {
  const name = `version_${version.replaceAll('.', '_')}`
  const text = `alter table outbox.dead_letter add column ${name} timestamptz;
create index attempt_${name} on only outbox.attempt (error_class, at) where outcome = 'failed';
`
  return { path: `sql/upgrades/${version}/core`, text }
}
