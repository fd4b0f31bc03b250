import { join } from 'node:path'
import { runCommand, type Values } from './command.ts'
import { print, printError } from './print.ts'
import { releasedVersion } from './schema/migration.ts'
import { projectRoot } from './schema/project.ts'
import { freezeRelease, lastRelease, projectVersion } from './schema/release.ts'

const help =
  `Freeze the schema of this version: write it into tests/releases/, from which the upgrade
to the next version is built and tested. Until CHANGELOG.md names the version, run it again after a
change of the schema.

  npx -y deno@2.9.6 task freeze

  --help   show this`

/** Freezes the project at `root`; returns the exit code and what to print. */
export async function freeze(root: string): Promise<{ code: 0 | 1; message: string }> {
  const version = await projectVersion(root)
  const last = await lastRelease(root)
  const changelog = await Deno.readTextFile(join(root, 'CHANGELOG.md'))
  if (last?.version === version && changelog.includes(`\n## [${version}]`)) {
    return {
      code: 1,
      message: `${version} is released (${releasedVersion(changelog)} is the newest): ` +
        'raise the version in functions/_shared/base/version.ts first',
    }
  }
  return { code: 0, message: `Wrote ${(await freezeRelease(root)).join(', ')}` }
}

async function run(_: Values<Record<never, never>>): Promise<number> {
  const { code, message } = await freeze(projectRoot)
  ;(code === 0 ? print : printError)(message)
  return code
}

export const main = (): Promise<never> => runCommand({ help, flags: {}, run })

if (import.meta.main) await main()
