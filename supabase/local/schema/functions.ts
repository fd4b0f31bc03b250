import { SetupError } from '../errors.ts'
import type { Postgres } from '../postgres/mod.ts'

const listUrl = new URL('./functions.sql', import.meta.url)

/**
 * The committed table of the schema's functions as text: a head and one line a function with its
 * language, volatility, security, settings, owner and who may execute it.
 */
export async function listFunctions(pg: Postgres): Promise<string> {
  const { code, stdout, stderr } = await pg.psql(await Deno.readTextFile(listUrl), {
    as: 'supabase_admin',
  })
  if (code !== 0) throw new SetupError(`Cannot list the functions:\n${stderr}`)
  return '# Written by `deno task db:build`: read what changed before you commit it.\n' + stdout +
    '\n'
}
