import type { Sql, TransactionSql } from 'postgres'
import { SetupError } from '../errors.ts'

const PLATFORM = new URL('../platform/', import.meta.url)

/**
 * Turns a new cluster into a Supabase database: runs supabase/local/platform/*.sql as supabase_admin in one
 * transaction, which also stores the files' hash in the database's comment. Returns whether the database is
 * new; does nothing if it has the hash. Throws a SetupError if the files have changed.
 */
export async function bootstrapPlatform(admin: Sql): Promise<boolean> {
  const files = await readPlatformFiles()
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

async function readPlatformFiles(): Promise<PlatformFile[]> {
  const names: string[] = []
  for await (const entry of Deno.readDir(PLATFORM)) {
    if (entry.name.endsWith('.sql')) names.push(entry.name)
  }
  names.sort()
  return await Promise.all(
    names.map(async (name) => ({ name, text: await Deno.readTextFile(new URL(name, PLATFORM)) })),
  )
}

async function hash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return new Uint8Array(digest).toHex()
}
