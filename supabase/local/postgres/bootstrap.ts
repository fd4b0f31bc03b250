import type { Sql, TransactionSql } from 'postgres'
import { SetupError } from '../errors.ts'

const PLATFORM = new URL('../platform/', import.meta.url)

/** The extension that each part of the platform's files stands for. */
const STAND_INS: Readonly<Record<string, string>> = { vault: 'supabase_vault', net: 'pg_net' }

/**
 * Turns a new cluster into a Supabase database: runs supabase/local/platform/*.sql as supabase_admin in one
 * transaction, which also stores the files' hash in the database's comment. Of two files for an extension, one
 * creates it, and the other one is a stand-in for a server without it. Returns whether the database is new;
 * does nothing if it has the hash. Throws a SetupError if the files have changed.
 */
export async function bootstrapPlatform(admin: Sql): Promise<boolean> {
  const files = await readPlatformFiles(await available(admin))
  const note = `platform ${await hash(files.map((file) => file.text).join('\n'))}`
  const [row] = await admin<{ note: string | null }[]>`
    select pg_catalog.shobj_description(d.oid, 'pg_database') as note
    from pg_catalog.pg_database as d where d.datname = 'postgres'`
  if (row?.note === note) return false
  if (row?.note?.startsWith('platform ')) {
    throw new SetupError(
      'the emulated platform (supabase/local/platform) has changed since this data ' +
        'folder was created: start with --fresh',
    )
  }
  await admin.begin(async (tx) => {
    for (const file of files) await run(tx, file)
    await tx.unsafe(`comment on database postgres is '${note}'`)
  })
  return true
}

interface PlatformFile {
  name: string
  text: string
}

async function run(tx: TransactionSql, file: PlatformFile): Promise<void> {
  try {
    await tx.unsafe(file.text).simple()
  } catch (error) {
    throw new Error(`cannot run supabase/local/platform/${file.name}`, { cause: error })
  }
}

/** The extensions with a stand-in that the server has. */
async function available(admin: Sql): Promise<string[]> {
  const rows = await admin<{ name: string }[]>`
    select e.name from pg_catalog.pg_available_extensions as e
    where e.name in ${admin(Object.values(STAND_INS))}`
  return rows.map(({ name }) => name)
}

async function readPlatformFiles(extensions: readonly string[]): Promise<PlatformFile[]> {
  const names: string[] = []
  for await (const { name } of Deno.readDir(PLATFORM)) {
    if (name.endsWith('.sql') && isFor(extensions, name)) names.push(name)
  }
  names.sort()
  return await Promise.all(
    names.map(async (name) => ({ name, text: await Deno.readTextFile(new URL(name, PLATFORM)) })),
  )
}

/** Whether a server with these extensions needs the file. */
function isFor(extensions: readonly string[], name: string): boolean {
  const [, part = '', how = ''] = /^\d+_([a-z]+)\w*\.(stand_in|extension)\.sql$/.exec(name) ?? []
  if (how === '') return true
  const extension = STAND_INS[part]
  return extension !== undefined && extensions.includes(extension) === (how === 'extension')
}

async function hash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return new Uint8Array(digest).toHex()
}
