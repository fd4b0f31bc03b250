/** Copies of a running stack's database, made as people make them. */

import { dirname, join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { type NetWorker, startNet } from '../../../supabase/local/net/mod.ts'
import { ensurePostgres, startPostgres } from '../../../supabase/local/postgres/mod.ts'
import { serverUser } from '../../../supabase/local/postgres/server_user.ts'
import { databaseFolder, testFolder } from '../../_support/folder.ts'
import type { TestOuthook } from '../../_support/outhook.ts'

/** A database that is a copy. */
export interface Copy extends AsyncDisposable {
  readonly dbUrl: string
  /** As `postgres`. */
  readonly sql: Sql
  /** As the superuser. */
  readonly admin: Sql
}

function named(url: string, database: string): string {
  return url.replace(/[^/]+$/, database)
}

function opened(dbUrl: string, adminDbUrl: string, remove: () => Promise<void>): Copy {
  const sql = postgres(dbUrl, { max: 2, onnotice: () => {} })
  const admin = postgres(adminDbUrl, { max: 2, onnotice: () => {} })
  return {
    dbUrl,
    sql,
    admin,
    [Symbol.asyncDispose]: async () => {
      await sql.end({ timeout: 1 })
      await admin.end({ timeout: 1 })
      await remove()
    },
  }
}

/** `pg_dump | psql` into a second database of the same server, where pg_cron cannot be. */
export async function restoreDump({ stack, admin }: TestOuthook, name: string): Promise<Copy> {
  await admin.unsafe(`create database ${name}`)
  const { bin } = await ensurePostgres({ log: () => {} })
  const adminUrl = named(stack.adminDbUrl, name)
  const { stderr, success } = await new Deno.Command('sh', {
    args: ['-c', '"$0" "$1" | "$2" -Xq "$3"', `${bin}/pg_dump`, stack.adminDbUrl, 'psql', adminUrl],
    stdout: 'null',
  }).output()
  if (!success) throw new Error(new TextDecoder().decode(stderr))
  return beside(stack, name)
}

/** What happens while a backup is restored in place. */
export type Meanwhile = {
  /** After the backup was made. */
  lost: () => Promise<void>
  /** When the data is there, and no primary key. */
  loaded: () => Promise<void>
}

/**
 * `pg_dump`, a new database of the same name, `pg_restore` in three steps: restores a backup in the place of its
 * database. Its clients lose their sessions, and connect again at once.
 */
export async function restoreInPlace(
  { stack, admin }: TestOuthook,
  name: string,
  { lost, loaded }: Meanwhile,
): Promise<void> {
  const { bin } = await ensurePostgres({ log: () => {} })
  const adminUrl = named(stack.adminDbUrl, name)
  const file = `${testFolder()}.dump`
  const program = async (command: string, ...args: string[]): Promise<void> => {
    const { success, stderr } = await new Deno.Command(`${bin}/${command}`, {
      args,
      stdout: 'null',
    })
      .output()
    if (!success) throw new Error(new TextDecoder().decode(stderr))
  }
  await program('pg_dump', '--format=custom', `--file=${file}`, adminUrl)
  await lost()
  // `drop database` waits for each process of the server, and pg_cron 1.4 may sleep for a minute.
  await admin.unsafe(`alter database ${name} allow_connections false`)
  await admin`select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = ${name}`
  await admin.unsafe(`alter database ${name} rename to ${name}_before`)
  await admin.unsafe(`create database ${name}`)
  const section = (part: string) =>
    program('pg_restore', `--section=${part}`, `--dbname=${adminUrl}`, file)
  await section('pre-data')
  await section('data')
  await loaded()
  await section('post-data')
  await Deno.remove(file)
}

/** `create database … template`. Nobody may be connected to the template. */
export async function copyTemplate(
  { stack, admin }: TestOuthook,
  template: string,
  name: string,
): Promise<Copy> {
  await admin.unsafe(`create database ${name} template ${template}`)
  return beside(stack, name)
}

/** A second database of the stack, which is removed with its server. */
function beside({ dbUrl, adminDbUrl }: TestOuthook['stack'], name: string): Copy {
  return opened(named(dbUrl, name), named(adminDbUrl, name), async () => {})
}

/** pg_basebackup, as a server of its own with pg_cron and pg_net. */
export async function copyPhysically({ stack, admin }: TestOuthook): Promise<Copy> {
  const dataDir = databaseFolder()
  await Deno.mkdir(dataDir, { recursive: true })
  const user = await serverUser(dataDir)
  await user.own(dataDir)
  const { bin } = await ensurePostgres({ log: () => {} })
  const [command = '', ...args] = [
    ...user.prefix,
    `${bin}/pg_basebackup`,
    '--checkpoint=fast',
    '--no-sync',
    `--dbname=${stack.adminDbUrl}`,
    `--pgdata=${dataDir}/pg`,
  ]
  const { success, stderr } = await new Deno.Command(command, { args, cwd: '/' }).output()
  if (!success) throw new Error(new TextDecoder().decode(stderr))
  const key = join(dataDir, 'vault.key')
  const [original] = await admin`show data_directory`
  await Deno.copyFile(join(dirname(original?.data_directory), 'vault.key'), key)
  await user.own(key)
  const pg = await startPostgres({ dataDir, port: 'free', fsync: false, log: () => {} })
  const net: NetWorker = await startNet({ url: pg.adminDbUrl, log: () => {} })
  return opened(pg.dbUrl, pg.adminDbUrl, async () => {
    await net.stop()
    await pg.stop()
    await Deno.remove(dataDir, { recursive: true })
  })
}
