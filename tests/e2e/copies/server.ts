/** Another server of the same project, as platforms make them: a promoted standby, and an upgrade. */

import { dirname, join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import type { PostgresBinaries } from '../../../supabase/local/postgres/binaries.ts'
import {
  type ClusterPaths,
  clusterPaths,
  createCluster,
  prepareSocket,
  prepareVaultScript,
  removeSocket,
} from '../../../supabase/local/postgres/cluster.ts'
import { adoptCronJobs } from '../../../supabase/local/postgres/cron.ts'
import { startServer } from '../../../supabase/local/postgres/server.ts'
import { type ServerUser, serverUser } from '../../../supabase/local/postgres/server_user.ts'
import { freePort } from '../../../supabase/local/process/ports.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { databaseFolder } from '../../_support/folder.ts'
import { patienceMs } from '../../_support/patience.ts'
import type { TestPostgres } from '../../_support/postgres.ts'

/** A server that takes the place of another one. */
export interface OtherServer extends AsyncDisposable {
  readonly port: number
  readonly dbUrl: string
  /** As the superuser. */
  readonly admin: Sql
}

/** A standby that follows its primary. */
export interface Standby extends OtherServer {
  /** Waits until it has all that the primary has written so far. */
  caughtUp(): Promise<void>
  /** Makes it a primary. */
  promote(): Promise<void>
}

interface Place {
  dataDir: string
  paths: ClusterPaths
  user: ServerUser
}

async function newPlace(original: TestPostgres): Promise<Place> {
  const dataDir = databaseFolder()
  await Deno.mkdir(dataDir, { recursive: true })
  const user = await serverUser(dataDir)
  await user.own(dataDir)
  const paths = clusterPaths(dataDir)
  await Deno.copyFile(join(original.dataDir, 'vault.key'), paths.vaultKey)
  await user.own(paths.vaultKey)
  return { dataDir, paths, user }
}

async function program(user: ServerUser, cwd: string, words: string[]): Promise<void> {
  const [command = '', ...args] = [...user.prefix, ...words]
  const { success, stdout, stderr } = await new Deno.Command(command, { args, cwd }).output()
  const read = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
  if (!success) throw new Error(`${words[0]}: ${read(stdout).slice(-2000)}${read(stderr)}`)
}

async function start(
  { dataDir, paths, user }: Place,
  binaries: PostgresBinaries,
): Promise<OtherServer & { socket: string }> {
  await prepareSocket(paths, user)
  if (binaries.platform.includes('supabase_vault')) await prepareVaultScript(paths, user)
  const port = freePort()
  const started = await startServer({ paths, binaries, user, port, fsync: false })
  if (started.kind !== 'started') throw new Error(JSON.stringify(started))
  const url = (login: string): string => `postgresql://${login}:postgres@127.0.0.1:${port}/postgres`
  const admin = postgres(url('supabase_admin'), { max: 2, onnotice: () => {} })
  return {
    port,
    socket: paths.socket,
    dbUrl: url('postgres'),
    admin,
    [Symbol.asyncDispose]: async () => {
      await admin.end({ timeout: 1 })
      await started.child.stop()
      await removeSocket(paths)
      await Deno.remove(dataDir, { recursive: true })
    },
  }
}

/** `pg_basebackup -R`: a standby of the primary, on a port of its own. */
export async function startStandby(primary: TestPostgres): Promise<Standby> {
  const place = await newPlace(primary)
  await program(place.user, '/', [
    `${primary.binaries.bin}/pg_basebackup`,
    '--checkpoint=fast',
    '--no-sync',
    '--write-recovery-conf',
    `--dbname=${primary.adminDbUrl}`,
    `--pgdata=${place.paths.data}`,
  ])
  const server = await start(place, primary.binaries)
  const one = async (sql: Sql, query: string): Promise<string> => {
    const [row] = await sql.unsafe(`select (${query})::text as value`)
    return row?.value
  }
  return {
    ...server,
    caughtUp: async () => {
      const source = postgres(primary.adminDbUrl, { max: 1, onnotice: () => {} })
      const lsn = await one(source, 'pg_current_wal_insert_lsn()')
      await source.end()
      const query = `pg_last_wal_replay_lsn() >= '${lsn}'::pg_lsn`
      const has = async (): Promise<boolean> => await one(server.admin, query) === 'true'
      if (!await waitUntil(has, { timeoutMs: patienceMs })) throw new Error('the standby is behind')
    },
    promote: async () => {
      if (await one(server.admin, 'pg_promote(true, 60)') !== 'true') {
        throw new Error('the standby is not promoted')
      }
      await adoptCronJobs(server.admin, { host: server.socket, port: server.port })
    },
  }
}

/** A base backup, and the way to a point in time after it. */
export interface Backup {
  /** Restores it as a server of its own, with the WAL of the stopped original until this time. */
  restore(until: string): Promise<OtherServer>
}

/** `pg_basebackup` of a running server, which keeps its WAL from now on. */
export async function takeBackup(original: TestPostgres): Promise<Backup> {
  const place = await newPlace(original)
  const source = postgres(original.adminDbUrl, { max: 1, onnotice: () => {} })
  await source`select pg_create_physical_replication_slot('backup', true)`
  await source.end()
  await program(place.user, '/', [
    `${original.binaries.bin}/pg_basebackup`,
    '--checkpoint=fast',
    '--no-sync',
    `--dbname=${original.adminDbUrl}`,
    `--pgdata=${place.paths.data}`,
  ])
  return {
    restore: async (until) => {
      const archive = join(clusterPaths(original.dataDir).data, 'pg_wal')
      const settings = [
        `restore_command = 'cp ${archive}/%f %p'`,
        `recovery_target_time = '${until}'`,
        `recovery_target_action = 'promote'`,
      ]
      const signal = join(place.paths.data, 'recovery.signal')
      await Deno.writeTextFile(signal, '')
      await place.user.own(signal)
      await Deno.writeTextFile(
        join(place.paths.data, 'postgresql.auto.conf'),
        settings.join('\n') + '\n',
        { append: true },
      )
      const server = await start(place, original.binaries)
      const isOver = async (): Promise<boolean> => {
        const [row] = await server.admin`select not pg_is_in_recovery() as over`
        return row?.over === true
      }
      if (!await waitUntil(isOver, { timeoutMs: patienceMs })) {
        throw new Error('the recovery does not end')
      }
      await adoptCronJobs(server.admin, { host: server.socket, port: server.port })
      return server
    },
  }
}

/**
 * pg_upgrade of a stopped server to the programs in `bin`, which may have a newer major version. The new
 * cluster has another system identifier.
 */
export async function upgrade(stopped: TestPostgres, bin: string): Promise<OtherServer> {
  const place = await newPlace(stopped)
  const key = await Deno.readFile(place.paths.vaultKey)
  const binaries = { ...stopped.binaries, bin }
  await createCluster(place.paths, binaries, place.user)
  await Deno.writeFile(place.paths.vaultKey, key)
  const libraries = ['pg_cron', 'pg_stat_statements', ...binaries.platform].join(',')
  const settings = `-c shared_preload_libraries=${libraries} -c cron.database_name=postgres`
  await program(place.user, place.dataDir, [
    `${bin}/pg_upgrade`,
    '--username=supabase_admin',
    `--old-bindir=${stopped.binaries.bin}`,
    `--new-bindir=${bin}`,
    `--old-datadir=${clusterPaths(stopped.dataDir).data}`,
    `--new-datadir=${place.paths.data}`,
    `--socketdir=${dirname(place.paths.data)}`,
    `--old-options=${settings}`,
    `--new-options=${settings}`,
    '--no-sync',
    '--link',
  ])
  const server = await start(place, binaries)
  await adoptCronJobs(server.admin, { host: server.socket, port: server.port })
  return server
}
