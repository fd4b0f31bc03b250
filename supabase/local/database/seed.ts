import { createHash } from 'node:crypto'
import type { Sql } from 'postgres'
import { machineProblem, messageOf, SetupError } from '../errors.ts'

/**
 * Runs the seed file once per database, in one transaction with a row that records it under `path`.
 * Returns whether it ran now. A missing seed file is not an error.
 */
export async function seed(sql: Sql, path: string, file: string): Promise<boolean> {
  const text = await readIfPresent(file)
  if (text === null) return false
  await sql.unsafe(NOTES).simple()
  const [note] = await sql`select from supabase_migrations.seed_files as s where s.path = ${path}`
  if (note !== undefined) return false
  try {
    await sql.begin(async (tx) => {
      await tx.unsafe(text).simple()
      await tx`
        insert into supabase_migrations.seed_files (path, hash)
        values (${path}, ${createHash('sha256').update(text).digest('hex')})`
    })
  } catch (cause) {
    throw new SetupError(machineProblem(cause) ?? `${path} cannot be run: ${messageOf(cause)}`, {
      cause,
    })
  }
  return true
}

/** The table as the CLI creates it. */
const NOTES = `
create schema if not exists supabase_migrations;
create table if not exists supabase_migrations.seed_files (
  path text not null primary key,
  hash text not null
);`

async function readIfPresent(file: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(file)
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null
    throw error
  }
}
