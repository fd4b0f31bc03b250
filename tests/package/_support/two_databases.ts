import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { buildCommand } from '../../../package/build/command.ts'
import { buildFunctions } from '../../../package/build/functions.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { testFolder } from '../../_support/folder.ts'
import { startTestPostgres, type TestPostgres } from '../../_support/postgres.ts'
import { type Shop, shopIn } from './shop.ts'

/** The packed command in a project, and two databases with the schema. */
export interface TwoDatabases extends AsyncDisposable {
  readonly project: Shop
  readonly one: TestPostgres
  readonly two: TestPostgres
}

export async function startTwoDatabases(): Promise<TwoDatabases> {
  const root = testFolder()
  await buildFunctions(projectRoot, join(root, 'dist'))
  const { tarball } = await buildCommand(projectRoot, join(root, 'dist'))
  const project = await shopIn(root, tarball)
  const one = await startTestPostgres({ migrated: true })
  const two = await startTestPostgres({ migrated: true })
  return {
    project,
    one,
    two,
    async [Symbol.asyncDispose](): Promise<void> {
      await one[Symbol.asyncDispose]()
      await two[Symbol.asyncDispose]()
      await Deno.remove(root, { recursive: true })
    },
  }
}

/** Connects to a database for the time of `use`. */
export async function on<T>({ dbUrl }: TestPostgres, use: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = postgres(dbUrl, { max: 1, onnotice: () => {} })
  try {
    return await use(sql)
  } finally {
    await sql.end()
  }
}
