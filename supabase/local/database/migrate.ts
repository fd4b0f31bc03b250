import { join } from 'node:path'
import type { Sql } from 'postgres'
import { machineProblem, messageOf, SetupError } from '../errors.ts'

/** A file of supabase/migrations. */
export interface Migration {
  /** The digits at the start of its name. */
  version: string
  /** The rest of its name, without `.sql`. */
  name: string
  text: string
}

/** The migrations in `folder`, in order; only files named `<digits>_<name>.sql`. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const migrations: Migration[] = []
  for (const name of await fileNames(folder)) {
    const [, version, rest] = name.match(/^(\d+)_(.*)\.sql$/) ?? []
    if (version === undefined || rest === undefined) continue
    migrations.push({ version, name: rest, text: await Deno.readTextFile(join(folder, name)) })
  }
  return migrations.sort((a, b) => a.version < b.version ? -1 : 1)
}

/**
 * Applies the new ones of `migrations` as the connection's role, each in one transaction with its row in
 * supabase_migrations.schema_migrations, which the CLI also uses. `log` gets a line before each. Returns
 * the applied versions. Throws a SetupError if an applied migration is missing or has changed.
 */
export async function migrate(
  sql: Sql,
  migrations: Migration[],
  log: (line: string) => void = () => {},
): Promise<string[]> {
  await sql.unsafe(HISTORY).simple()
  const history = await sql<{ version: string; text: string | null }[]>`
    select h.version, pg_catalog.array_to_string(h.statements, '') as text
    from supabase_migrations.schema_migrations as h order by h.version`
  const done = new Map(history.map((row) => [row.version, row.text]))
  const known = new Set(migrations.map((migration) => migration.version))
  for (const version of done.keys()) {
    if (!known.has(version)) {
      throw outdated(`migration ${version} is in the database and in no file`)
    }
  }
  const applied: string[] = []
  for (const migration of migrations) {
    const text = done.get(migration.version)
    if (text === undefined) {
      log(`applying migration ${migration.version}`)
      await apply(sql, migration)
      applied.push(migration.version)
    } else if (text !== null && essence(text) !== essence(migration.text)) {
      throw outdated(`${fileName(migration)} has changed since it was applied`)
    }
  }
  return applied
}

/** The tables as the CLI creates them. */
const HISTORY = `
create schema if not exists supabase_migrations;
create table if not exists supabase_migrations.schema_migrations (
  version text not null primary key
);
alter table supabase_migrations.schema_migrations add column if not exists statements text[];
alter table supabase_migrations.schema_migrations add column if not exists name text;`

async function apply(sql: Sql, migration: Migration): Promise<void> {
  try {
    await sql.begin(async (tx) => {
      await tx.unsafe(`set local lock_timeout = '4s'`)
      await tx.unsafe(migration.text).simple()
      await tx`
        insert into supabase_migrations.schema_migrations (version, name, statements)
        values (${migration.version}, ${migration.name}, array[${migration.text}])`
    })
  } catch (cause) {
    const says = machineProblem(cause) ??
      `${fileName(migration)} cannot be applied: ${messageOf(cause)}`
    throw new SetupError(says, { cause })
  }
}

/** The CLI stores statements separately, trimmed and without semicolons. */
function essence(text: string): string {
  return text.replace(/[\s;]/g, '')
}

function outdated(what: string): SetupError {
  return new SetupError(`${what}: start with --fresh, which drops the local data`)
}

function fileName(migration: Migration): string {
  return `supabase/migrations/${migration.version}_${migration.name}.sql`
}

async function fileNames(folder: string): Promise<string[]> {
  try {
    return (await Array.fromAsync(Deno.readDir(folder))).map((entry) => entry.name)
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return []
    throw error
  }
}
