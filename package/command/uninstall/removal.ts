import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { installedMigrations, nextVersion } from '../init/migrations.ts'
import type { Assets, Project, Step } from '../init/plan.ts'
import { withoutConfig } from './without_config.ts'

/** The SQL of the two migrations. */
export interface RemovalSql {
  stopJobs: string
  refuse: string
  remove: string
}

/** What `uninstall` does to a project. */
export interface Removal {
  steps: Step[]
  /** Folders below `supabase/` to delete. */
  folders: string[]
  byHand: string[]
  notes: string[]
}

/**
 * What is to be removed from a project: two more migrations, because deleting applied ones would stop
 * every later push; the folders of functions that nobody has changed; and the lines of config.toml.
 */
export function makeRemoval(
  assets: Pick<Assets, 'version' | 'functions'>,
  project: Project,
  { supabase, sql, discard, now }: {
    supabase: string
    sql: RemovalSql
    discard: boolean
    now: Date
  },
): Removal {
  const { version } = assets
  const steps: Step[] = []
  if (installedMigrations(project.migrations).length > 0) {
    const texts: [name: string, text: string, what: string][] = [
      ['stop_jobs', sql.stopJobs, 'stops the cron jobs'],
      [
        'uninstall',
        (discard ? '' : `${sql.refuse}\n`) + sql.remove,
        `drops the schema outbox with its data${discard ? '' : ', unless it is in use'}`,
      ],
    ]
    const next = nextVersion(project.migrations, now)
    for (const [name, text, what] of texts) {
      steps.push({
        kind: 'create',
        path: `migrations/${next()}_outhook_${name}_${version}.sql`,
        content:
          `-- Outhook ${version}, ${name}. Do not change this file: it is applied once.\n${text}`,
        what,
      })
    }
  }
  const own = project.own.map(({ folder }) => folder)
  const edit = withoutConfig(project.config, { schema: 'outbox', functions: own })
  if (edit.text !== project.config) {
    const what = 'removes the schema outbox and the functions'
    steps.push({ kind: 'change', path: 'config.toml', content: edit.text, what })
  }
  const changed = project.own.filter(({ folder, name }) =>
    !isUnchanged(join(supabase, 'functions', folder), assets.functions.get(name))
  ).map(({ folder }) => folder)
  return {
    steps,
    folders: own.filter((folder) => !changed.includes(folder)).map((name) => `functions/${name}`),
    byHand: edit.byHand,
    notes: changed.map((folder) =>
      `supabase/functions/${folder} was changed, or is of another version: delete it yourself`
    ),
  }
}

/** Whether a folder has exactly these files. */
function isUnchanged(folder: string, files: ReadonlyMap<string, string> | undefined): boolean {
  if (files === undefined) return false
  const names = readdirSync(folder)
  return names.length === files.size &&
    names.every((name) =>
      files.has(name) && files.get(name) === readFileSync(join(folder, name), 'utf8')
    )
}
