import { newestMigrations, nextVersion } from '../init/migrations.ts'
import type { Assets, Plan, Project, Step } from '../init/plan.ts'
import type { Refusal } from '../init/refuse.ts'
import { exitCodes } from '../terminal.ts'

/** The migrations from the version before to this one. */
export interface UpgradeAssets {
  /** The version before. */
  from: string
  /** In the order in which they are applied. */
  migrations: readonly { module: string; text: string }[]
}

/** The version of each module by the migrations of the project; null if a file has no version. */
export function moduleVersions(migrations: readonly string[]): Map<string, string | null> {
  return new Map(newestMigrations(migrations).map(({ module, version }) => [module, version]))
}

/**
 * What upgrades a project to the version of the command: a migration for each module of the version
 * before, later than all migrations of the project, and the files of its functions. Or why it cannot.
 */
export function makeUpgrade(
  { version, functions, upgrade }: Pick<Assets, 'version' | 'functions'> & {
    upgrade: UpgradeAssets | null
  },
  project: Project,
  now: Date,
): Plan | Refusal {
  const modules = moduleVersions(project.migrations)
  const refusal = refuse(version, upgrade, [
    ...modules.values(),
    ...project.own.map((one) => one.version),
  ])
  if (refusal !== null) return refusal
  const next = nextVersion(project.migrations, now)
  const steps: Step[] = (upgrade?.migrations ?? [])
    .filter(({ module }) => modules.has(module) && modules.get(module) !== version)
    .map(({ module, text }) => ({
      kind: 'create',
      path: `migrations/${next()}_outhook_${module}_${version}.sql`,
      content: text,
      what: `upgrades the module ${module}`,
    }))
  for (const own of project.own.filter((one) => one.version !== version)) {
    for (const [file, content] of functions.get(own.name) ?? []) {
      const path = `functions/${own.folder}/${file}`
      steps.push({ kind: 'replace', path, content, what: `the function ${own.name} of ${version}` })
    }
  }
  const notes = project.isInGit || steps.length === 0
    ? []
    : ['This project is in no Git repository: copy it first if you may want to undo the changes']
  return { steps, byHand: [], notes, folders: new Map() }
}

/** Why a project that has these versions cannot be upgraded. */
function refuse(
  version: string,
  upgrade: UpgradeAssets | null,
  versions: readonly (string | null)[],
): Refusal | null {
  const says = (text: string): Refusal => ({ code: exitCodes.failed, says: text })
  if (versions.length === 0) return says('This project has nothing of Outhook: run outhook init')
  const other = versions.find((one) => one !== null && one !== version && one !== upgrade?.from)
  if (other === undefined || other === null) return null
  if (isNewer(other, version)) {
    return says(
      `This project has Outhook ${other}, and this command is of ${version}: use the command of ` +
        `version ${other}`,
    )
  }
  if (upgrade === null) {
    return says(
      `This project has Outhook ${other}, and this command has no upgrade to ${version}: use ` +
        `the command of version ${other}`,
    )
  }
  return says(
    `This project has Outhook ${other}, and this command upgrades from ${upgrade.from} to ` +
      `${version}. An upgrade goes from one version to the next: run the command of version ` +
      `${upgrade.from} first, push and deploy, and then this one`,
  )
}

function isNewer(left: string, right: string): boolean {
  const [a, b] = [left.split('.').map(Number), right.split('.').map(Number)]
  const at = a.findIndex((number, index) => number !== b[index])
  return at !== -1 && (a[at] ?? 0) > (b[at] ?? 0)
}
