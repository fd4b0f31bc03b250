import { join } from 'node:path'
import process from 'node:process'
import { installedMigrations } from '../init/migrations.ts'
import type { Project } from '../init/plan.ts'
import { readProject } from '../init/project.ts'
import { callDataApi } from '../remote/data_api.ts'
import type { Facts } from '../remote/facts.ts'
import { readTarget, type TargetOptions } from '../remote/target.ts'
import { exitCodes, type Terminal } from '../terminal.ts'

/** The options of `outhook status`. */
export interface StatusOptions extends TargetOptions {
  project: string
  json: boolean
}

/** What a project has, in its database and in its files. */
export interface Status {
  url: string
  database: Pick<
    Facts,
    | 'version'
    | 'postgres'
    | 'modules'
    | 'module_versions'
    | 'last_tick_at'
    | 'runs'
    | 'queue'
    | 'problems'
    | 'warnings'
  >
  functionsUrl: string | null
  /** Null if the folder has no project with Outhook. */
  files: { modules: string[]; functions: string[]; versions: string[] } | null
  /** The modules whose migrations are in the files and not in the database. */
  notApplied: string[]
}

/** Prints what a project has, and returns the exit code. It changes nothing and judges nothing. */
export async function status(options: StatusOptions, terminal: Terminal): Promise<number> {
  const target = await readTarget(options, process.env, terminal, 'status')
  if ('says' in target) {
    terminal.printError(target.says)
    return target.code
  }
  const read = await callDataApi<Facts>(target, 'check_installation', {})
  if (!read.ok) {
    terminal.printError(
      `The database cannot be read: ${read.problem.message}. outhook check says what to do`,
    )
    return exitCodes.failed
  }
  const found = statusOf(target.url, read.data, readProject(join(options.project, 'supabase')))
  terminal.print(options.json ? JSON.stringify(found, null, 2) : showStatus(found))
  return exitCodes.done
}

/** Combines the facts of the database with the files of the project. */
export function statusOf(url: string, facts: Facts, project: Project | null): Status {
  const migrations = project === null ? [] : installedMigrations(project.migrations)
  const modules = migrations.map(({ module }) => module)
    .filter((module) => module !== 'extensions' && !module.startsWith('jobs_after_'))
  const own = project?.own ?? []
  const versions = [...migrations, ...own].flatMap(({ version }) => version ?? [])
  const { version, postgres, module_versions = {}, last_tick_at, runs, queue } = facts
  const { problems, warnings = [] } = facts
  return {
    url,
    database: {
      version,
      postgres,
      modules: facts.modules,
      module_versions,
      last_tick_at,
      runs,
      queue,
      problems,
      warnings,
    },
    functionsUrl: facts.configured.functions_url,
    files: migrations.length === 0 && own.length === 0 ? null : {
      modules,
      functions: own.map(({ folder }) => folder),
      versions: [...new Set(versions)],
    },
    notApplied: modules.filter((module) => !facts.modules.includes(module)),
  }
}

/** The status for a person, one fact a line. */
export function showStatus({ url, database, functionsUrl, files, notApplied }: Status): string {
  const { queue, runs } = database
  const names: [name: string, value: string][] = [
    ['project', url],
    ['database', `Outhook ${database.version} on Postgres ${database.postgres}`],
    ['modules', modulesText(database)],
    ['functions at', functionsUrl ?? 'not configured'],
    ['last tick', database.last_tick_at ?? 'none yet'],
    ['live runs', Object.entries(runs).map(([kind, n]) => `${n} ${kind}`).join(', ') || 'none'],
    ['unrouted events', String(queue['unrouted'] ?? 0)],
    ['open deliveries', `${queue['open'] ?? 0}, ${queue['in_flight'] ?? 0} of them in flight`],
    ['dead letters', String(queue['dead_letters'] ?? 0)],
    ['held endpoints', String(queue['endpoints_held'] ?? 0)],
    ['open breakers', String(queue['breakers_open'] ?? 0)],
  ]
  const local: [name: string, value: string][] = files === null ? [] : [
    [
      'files',
      `Outhook ${files.versions.join(', ')}: ${files.modules.join(', ') || 'no module'}; ` +
      `functions ${files.functions.join(', ') || 'none'}`,
    ],
    ...notApplied.length === 0 ? [] : [
      ['not applied', `${notApplied.join(', ')}: run supabase db push`] as [string, string],
    ],
  ]
  return [
    ...[...names, ...local].map(([name, value]) => `${name.padEnd(16)} ${value}`),
    ...database.problems.map((problem) => `${'problem'.padEnd(16)} ${problem}`),
    ...(database.warnings ?? []).map((text) => `${'warning'.padEnd(16)} ${text}`),
  ].join('\n')
}

/** The modules, with the version of each that is not of the version of the schema. */
function modulesText({ version, modules, module_versions = {} }: Status['database']): string {
  return modules.map((name) => {
    const { [name]: own = version } = module_versions
    return own === version ? name : `${name} (${own})`
  }).join(', ')
}
