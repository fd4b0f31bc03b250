import { dirname, join } from 'node:path'
import type { TestOuthook } from './outhook.ts'

/** The organisations of tests/sql/organisations: the caller, and the victim whose objects it names. */
export const visitor = 'org-visitor'
export const victim = 'org-victim'

/** What the two organisations own, in a database that no clock moves. */
export interface Tenants {
  /** The id or name of an object of an organisation, by its word. */
  thing(org: string, word: string): string
  /** All rows of an organisation and the secrets that they name. */
  belongings(org: string): Promise<string>
  /** Ids and texts that occur only in the victim's rows. */
  marks(): Promise<Set<string>>
}

/** Fills the database as the walk over SQL does, and stops the clock and the jobs of pg_cron. */
export async function makeTenants({ sql, admin }: TestOuthook, root: string): Promise<Tenants> {
  await admin`update cron.job set active = false where true`
  const folder = join(root, 'tests/sql')
  const files = [
    '_helpers.sql',
    '_engine.sql',
    '_messages.sql',
    'organisations/_tenants.sql',
    'organisations/_belongings.sql',
  ]
  let script = ''
  for (const file of files) script += await readScript(join(folder, file))
  await sql.begin((transaction) => transaction.unsafe(script).simple())
  const rows = await sql<{ org: string; name: string; value: string }[]>`
    select org, name, value from helper.thing`
  const things = new Map(rows.map(({ org, name, value }) => [`${org} ${name}`, value]))

  function thing(org: string, word: string): string {
    const value = things.get(`${org} ${word}`)
    if (value === undefined) throw new Error(`${org} owns nothing that is called ${word}`)
    return value
  }

  async function belongings(org: string): Promise<string> {
    const [row] = await sql`select helper.belongings(${org}) as all`
    return row?.all
  }

  async function marks(): Promise<Set<string>> {
    const found = await sql<{ mark: string }[]>`
      select m as mark from helper.marks(helper.belongings(${victim})) m
      except select m from helper.marks(helper.belongings(${visitor})) m`
    return new Set(found.map(({ mark }) => mark))
  }

  return { thing, belongings, marks }
}

/** A file of SQL with the files that it includes; psql's other commands are left out. */
async function readScript(path: string): Promise<string> {
  let script = ''
  for (const line of (await Deno.readTextFile(path)).split('\n')) {
    const included = /^\\ir (\S+)/.exec(line)?.[1]
    if (included !== undefined) script += await readScript(join(dirname(path), included))
    else if (!line.startsWith('\\')) script += line + '\n'
  }
  return script
}
