import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SourceMigration } from './init/migrations.ts'
import type { Assets } from './init/plan.ts'
import type { RemovalSql } from './uninstall/removal.ts'
import type { MigrateSql } from './migrate_from/migrate_from.ts'
import type { UpgradeAssets } from './upgrade/plan.ts'

/** The index of the assets, which the build writes. */
export interface AssetIndex {
  version: string
  migrations: { module: string; needs: string[]; file: string }[]
  functions: string[]
  /** The upgrade from the version before; null if there is none. */
  upgrade: { from: string; modules: string[] } | null
}

/** Reads the index alone: the assets have 6 MB. */
export function readIndex(folder: string): AssetIndex {
  // SAFETY: the build writes this file together with the command.
  return JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as AssetIndex
}

/** Reads the statement that stores the URL and the secret in the database. */
export function readConfigureSql(folder: string): string {
  return readFileSync(join(folder, 'configure.sql'), 'utf8')
}

/** Reads the migrations that remove everything. */
export function readRemovalSql(folder: string): RemovalSql {
  const read = (name: string): string => readFileSync(join(folder, 'uninstall', name), 'utf8')
  return {
    stopJobs: read('stop_jobs.sql'),
    refuse: read('refuse.sql'),
    remove: read('remove.sql'),
  }
}

/** Reads the statements that replace Database Webhooks. */
export function readMigrateSql(folder: string): MigrateSql {
  const read = (name: string): string => readFileSync(join(folder, 'migrate_from', name), 'utf8')
  return {
    read: read('read.sql'),
    outbox: read('outbox.sql'),
    switch: read('switch.sql'),
    undo: read('undo.sql'),
    finish: read('finish.sql'),
    settle: read('settle.sql'),
  }
}

/** Reads the migrations of the upgrade from the version before; null if there is none. */
export function readUpgrade(folder: string): UpgradeAssets | null {
  const { upgrade } = readIndex(folder)
  if (upgrade === null) return null
  const { from, modules } = upgrade
  const read = (module: string): string =>
    readFileSync(join(folder, 'upgrades', `${module}.sql`), 'utf8')
  return { from, migrations: modules.map((module) => ({ module, text: read(module) })) }
}

/** Reads what the build put beside the command. */
export function readAssets(folder: string): Assets {
  const read = (...path: string[]): string => readFileSync(join(folder, ...path), 'utf8')
  const index = readIndex(folder)
  const migrations = index.migrations.map(({ module, needs, file }): SourceMigration => ({
    module,
    needs,
    text: read('migrations', file),
  }))
  const functions = index.functions.map((name): [string, Map<string, string>] => [
    name,
    new Map(
      readdirSync(join(folder, 'functions', name))
        .map((file): [string, string] => [file, read('functions', name, file)]),
    ),
  ])
  return { version: index.version, migrations, functions: new Map(functions) }
}
