import { installedMigrations, newestMigrations } from '../init/migrations.ts'
import type { Assets, Project } from '../init/plan.ts'
import { error, type Finding, ok, skipped, warning } from './finding.ts'

const page = 'docs/add-to-your-project.md#add-the-migrations-and-the-functions'

/**
 * What the files of the project say: whether its migrations and functions are of this version, once
 * each and unchanged. `read` returns the text of a file of supabase/migrations.
 */
export function judgeFiles(
  { version, migrations, upgrades = [] }: Pick<Assets, 'version' | 'migrations'> & {
    upgrades?: readonly { module: string; text: string }[]
  },
  project: Project | null,
  read: (file: string) => string,
): Finding[] {
  const id = 'files'
  const present = project === null ? [] : installedMigrations(project.migrations)
  if (project === null || (present.length === 0 && project.own.length === 0)) {
    return [skipped(id, 'This folder has no project with Outhook: its files were not checked')]
  }
  const findings: Finding[] = []
  const other = [
    ...newestMigrations(project.migrations)
      .map((one) => ({ path: `migrations/${one.file}`, version: one.version })),
    ...project.own.map((one) => ({ path: `functions/${one.folder}`, version: one.version })),
  ].filter((one) => one.version !== null && one.version !== version)
  for (const one of other) {
    findings.push(error(
      id,
      `supabase/${one.path} is of Outhook ${one.version}, and this command is of ${version}`,
      `Use the command of version ${one.version}, or run outhook upgrade if it is an older one`,
      page,
    ))
  }
  const twice = present.filter(({ module, version: own }, at) =>
    present.findIndex((one) => one.module === module && one.version === own) < at
  )
  for (const { file, module } of twice) {
    findings.push(error(
      id,
      `The module ${module} has two migrations: supabase/migrations/${file} is the second`,
      'Delete the one that is not applied yet: supabase migration list shows it',
      page,
    ))
  }
  for (const { file, module, version: own } of present) {
    // A module is installed as a whole, or upgraded from the version before.
    const source = module.startsWith('jobs_after_') ? 'jobs' : module
    const texts = [...migrations, ...upgrades].filter((one) => one.module === source)
      .map(({ text }) => text)
    if (own !== version || texts.length === 0) continue
    if (texts.some((text) => sameText(read(file), text))) continue
    findings.push(warning(
      id,
      `supabase/migrations/${file} was changed, so another database would get another schema`,
      'Restore the file from Git, and put your change into a migration of your own',
      page,
    ))
  }
  if (!project.own.some(({ name }) => name === 'deliver')) {
    findings.push(warning(
      id,
      'The project has no folder of the function deliver',
      'Run outhook init --functions deliver, unless only a worker delivers',
      page,
    ))
  }
  const said = `The project has ${present.length} migrations and ${project.own.length} functions ` +
    `of Outhook ${version}, all unchanged`
  return findings.length === 0 ? [ok(id, said)] : findings
}

/** Git may have changed the ends of the lines. */
function sameText(left: string, right: string): boolean {
  return left.replaceAll('\r\n', '\n') === right.replaceAll('\r\n', '\n')
}
