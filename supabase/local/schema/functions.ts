import { SetupError } from '../errors.ts'
import type { Postgres } from '../postgres/mod.ts'

const listUrl = new URL('./functions.sql', import.meta.url)

/**
 * The committed list of the schema's functions: a head, then one line for each function with its language,
 * volatility, security, settings, owner and rights.
 */
export async function listFunctions(pg: Postgres): Promise<string> {
  const { code, stdout, stderr } = await pg.psql(await Deno.readTextFile(listUrl), {
    as: 'supabase_admin',
  })
  if (code !== 0) throw new SetupError(`Cannot list the functions:\n${stderr}`)
  return '# Written by `deno task db:build`: check the changes before you commit it.\n' + stdout +
    '\n'
}
