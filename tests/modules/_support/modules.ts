import { join } from 'node:path'
import type { Postgres } from '../../../supabase/local/postgres/mod.ts'
import { applyFiles } from '../../../supabase/local/schema/database.ts'
import { buildMigration, readModule } from '../../../supabase/local/schema/migration.ts'
import { type Module, readOrder, withNeeds } from '../../../supabase/local/schema/order.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

/** The modules of sql/order.txt, in order. The first is the core. */
export const modules: readonly Module[] = await readOrder(projectRoot)

/** Sets of modules that must work: the core alone, with each other one and its needs, and all. */
export const combinations: readonly (readonly Module[])[] = [
  ...modules.map(({ name }) => withNeeds(modules, [name])),
  modules,
]

/** `core + api`, for the name of a test. */
export function nameOf(combination: readonly Module[]): string {
  return combination.map(({ name }) => name).join(' + ')
}

/** The statements of a module, as its migration has them. */
export async function migrationOf(module: Module): Promise<string> {
  return buildMigration(module, await readModule(projectRoot, module))
}

/** Applies the extensions and the modules in the given order, a transaction for each. */
export async function install(pg: Postgres, chosen: readonly Module[]): Promise<void> {
  const extensions = 'supabase/migrations/20251231000000_extensions.sql'
  await applyFiles(pg, [
    { path: extensions, text: await Deno.readTextFile(join(projectRoot, extensions)) },
    ...await Promise.all(
      chosen.map(async (module) => ({ path: module.name, text: await migrationOf(module) })),
    ),
  ])
}
