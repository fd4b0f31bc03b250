/** Everything that the adversary attacks, and the adversary's ways to it. */

import { fileURLToPath } from 'node:url'
import { configureOutbox, prepareDatabase } from '../../../supabase/local/database/mod.ts'
import { loadKeys } from '../../../supabase/local/keys.ts'
import { freePort } from '../../../supabase/local/process/ports.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import type { Receiver } from '../../e2e/receiver/receiver.ts'
import { isServerAway } from './away.ts'
import { type Disk, makeDisk } from './disk.ts'
import { keep, type Kept } from './kept.ts'
import { Ledger } from './ledger.ts'
import type { PlatformEnv } from './platform.ts'
import { type Publishers, startPublishers } from './publishers.ts'
import { startReceivers } from './receivers.ts'
import { type Relay, startRelay } from './relay.ts'
import { Schema } from './schema.ts'
import { Server } from './server.ts'
import { createTargets } from './targets.ts'
import { startWorkers, type Workers } from './workers.ts'

const platformProgram = fileURLToPath(new URL('platform.ts', import.meta.url))
const netProgram = fileURLToPath(new URL('net.ts', import.meta.url))

const PUBLISHERS = 4
/** Transactions a second of each. */
const RATE = 3
const WORKERS = 2

/** The ways between parts. */
export interface Relays {
  /** Workers and publishers to the database. */
  database: Relay
  /** The gateway, and so the functions, to the database. */
  gateway: Relay
  /** Senders to receivers. */
  receiver: Relay
}

export interface World extends AsyncDisposable {
  readonly ledger: Ledger
  readonly disk: Disk
  /** That of the write-ahead log alone. */
  readonly walDisk: Disk
  readonly server: Server
  readonly schema: Schema
  readonly relays: Relays
  readonly workers: Workers
  /** The gateway and the function `deliver`. */
  readonly platform: Kept
  readonly net: Kept
  readonly publishers: Publishers
  readonly receiver: Receiver
}

/** Starts it all; takes about ten seconds. */
export async function startWorld(seed: number): Promise<World> {
  await using started = new AsyncDisposableStack()
  ignoreDeadSockets()
  const ledger = new Ledger()
  const disk = started.use(await makeDisk())
  const walDisk = started.use(await makeDisk('2g'))
  const server = await Server.start(disk.path, walDisk.isOwn ? walDisk.path : null)
  started.defer(() => server.end())
  await prepareDatabase({
    dbUrl: server.url('postgres'),
    projectDir: projectRoot,
    log: () => {},
  })
  const receiver = startReceivers(ledger, seed)
  started.defer(() => receiver.close())
  const relays = {
    database: started.use(startRelay(server.port)),
    gateway: started.use(startRelay(server.port)),
    receiver: started.use(startRelay(Number(new URL(receiver.url).port))),
  }
  const keys = await loadKeys(disk.path)
  const port = freePort()
  await configureOutbox({
    dbUrl: server.url('postgres'),
    functionsUrl: `http://127.0.0.1:${port}/functions/v1`,
    workerSecret: keys.workerSecret,
  })
  const env: PlatformEnv = {
    CHAOS_FOLDER: disk.path,
    CHAOS_PORT: String(port),
    CHAOS_AUTHENTICATOR_URL: server.url('authenticator', relays.gateway.port),
    CHAOS_DB_URL: server.url('postgres'),
  }
  const platform = started.use(keep(platformProgram, env))
  const net = started.use(keep(netProgram, { CHAOS_ADMIN_URL: server.url('supabase_admin') }))
  await Promise.all([platform.ready(), net.ready()])
  await createTargets(server, ledger, `http://127.0.0.1:${relays.receiver.port}`)
  const url = server.url('postgres', relays.database.port)
  const workers = startWorkers(url, WORKERS)
  started.defer(() => workers.stop())
  const publishers = startPublishers({ url, ledger, count: PUBLISHERS, rate: RATE, seed })
  started.defer(() => publishers.stop())

  const all = started.move()
  return {
    ledger,
    disk,
    walDisk,
    server,
    schema: new Schema(server),
    relays,
    workers,
    platform,
    net,
    publishers,
    receiver,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

let ignoresDeadSockets = false

/**
 * The driver of a connection that a fault has ended may reject after everybody has left it, and after the end of
 * its world. Such an error would end the run with all its seeds.
 */
export function ignoreDeadSockets(): void {
  if (ignoresDeadSockets) return
  ignoresDeadSockets = true
  globalThis.addEventListener('unhandledrejection', (event) => {
    if (isServerAway(event.reason)) event.preventDefault()
  })
}
