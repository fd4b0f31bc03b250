import postgres, { type Sql } from 'postgres'
import { testFolder } from '../../_support/folder.ts'
import { startTestPostgres, type TestPostgres } from '../../_support/postgres.ts'
import { builtCommand } from './built.ts'
import { type Shop, shopIn } from './shop.ts'

/** The packed command in a project, and two databases with the schema. */
export interface TwoDatabases extends AsyncDisposable {
  readonly project: Shop
  readonly one: TestPostgres
  readonly two: TestPostgres
}

export async function startTwoDatabases(): Promise<TwoDatabases> {
  const root = testFolder()
  const tarball = await builtCommand(root)
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
