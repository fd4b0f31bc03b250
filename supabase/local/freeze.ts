import { join } from 'node:path'
import { runCommand, type Values } from './command.ts'
import { exists } from './exists.ts'
import { print, printError } from './print.ts'
import { releasedVersion } from './schema/migration.ts'
import { projectRoot } from './schema/project.ts'
import {
  freezeRelease,
  isCandidate,
  lastRelease,
  projectVersion,
  releasesPath,
} from './schema/release.ts'

const flags = { candidate: { type: 'string' } } as const

const help =
  `Freeze the schema of this version: write it into tests/releases/, from which the upgrade
to the next version is built and tested. Until CHANGELOG.md names the version, run it again after a
change of the schema.

  npx -y deno@2.9.6 task freeze [--candidate <version>-rc.<number>]

  --candidate <name>  freeze it as a candidate of the first release instead, such as 1.0.0-rc.2
  --help              show this`

/** Freezes the project at `root`; returns the exit code and what to print. */
export async function freeze(
  root: string,
  candidate?: string,
): Promise<{ code: 0 | 1; message: string }> {
  if (candidate !== undefined) return await freezeCandidate(root, candidate)
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

/** A candidate never changes: a later schema is another one. */
async function freezeCandidate(
  root: string,
  name: string,
): Promise<{ code: 0 | 1; message: string }> {
  if (!isCandidate(name)) {
    return { code: 1, message: `--candidate is ${name}: expected a name such as 1.0.0-rc.2` }
  }
  if (await exists(join(root, releasesPath, name))) {
    return { code: 1, message: `${releasesPath}/${name} is stored already: use the next number` }
  }
  return { code: 0, message: `Wrote ${(await freezeRelease(root, name)).join(', ')}` }
}

async function run({ candidate }: Values<typeof flags>): Promise<number> {
  const { code, message } = await freeze(projectRoot, candidate)
  ;(code === 0 ? print : printError)(message)
  return code
}

export const main = (): Promise<never> => runCommand({ help, flags, run })

if (import.meta.main) await main()
