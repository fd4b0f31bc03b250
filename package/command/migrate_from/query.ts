import type { Cli } from '../deploy/cli.ts'
import { queryCommand, type Targets } from '../deploy/commands.ts'
import { withFile } from '../deploy/temporary_file.ts'
import { parseJson } from '../remote/data_api.ts'

/** A database as the owner of the schema outbox reaches it. Both reject with a QueryError. */
export interface Database {
  /** Executes a statement as one transaction. */
  execute(sql: string): Promise<void>
  /** The value in the column `found` of the only row. */
  query(sql: string): Promise<unknown>
}

/** A statement that failed. */
export class QueryError extends Error {}

/** The database that the Supabase CLI reaches. The CLI prints the error of a statement that fails. */
export function cliDatabase(cli: Cli, targets: Targets): Database {
  async function run(sql: string, ...args: string[]): Promise<string> {
    return await withFile('statement.sql', sql, async (file) => {
      const { code, stdout } = await cli.run([...queryCommand(targets, file), ...args], {
        captured: true,
      })
      if (code === 0) return stdout
      throw new QueryError(`supabase db query ended with code ${code}`)
    })
  }

  return {
    execute: async (sql) => void await run(sql),
    async query(sql): Promise<unknown> {
      const found = rowsOf(parseJson(await run(sql, '--output', 'json')))[0]?.found
      if (found === undefined) throw new QueryError('supabase db query returned no row as JSON')
      return typeof found === 'string' ? parseJson(found) : found
    },
  }
}

/** The rows of the output, which the CLI wraps in an object for some callers. */
function rowsOf(output: unknown): { found?: unknown }[] {
  if (Array.isArray(output)) return output
  return typeof output === 'object' && output !== null && 'rows' in output &&
      Array.isArray(output.rows)
    ? output.rows
    : []
}

/** A text as a literal of SQL. */
export function literal(text: string): string {
  const doubled = text.replaceAll("'", "''")
  return text.includes('\\') ? `E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`
}
