/** The stack, the quiet organisation, the control and a worker, and what a measurement does with them. */

import postgres, { type Sql } from 'postgres'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { type Stack, startStack } from '../../../supabase/local/stack.ts'
import { testFolder } from '../../_support/folder.ts'
import { startTaskWorker } from '../../soak/_support/processes.ts'
import { pause } from '../engine/pause.ts'
import { type Child, startChild } from '../run/child.ts'
import { countCpu, type Shares } from './cpu.ts'
import { type Noise, startNoise } from './noise_process.ts'
import { ARRIVAL_MS, type LoopName } from './options.ts'
import { addMessaging } from './messaging.ts'
import { addNoisyEndpoints, heavyFilters } from './organisation.ts'
import type { Part } from './parts.ts'
import type { Measured } from './report.ts'
import { describeStages, noteStages, type Seen } from './stages.ts'

/** Events of the quiet organisation a second. */
export const RATE = 20
/** The CPU time of a statement of the control: that of a query of a usual application. */
export const PIECE_MS = 5
const WARM_UP_MS = 5_000

export type Scene = {
  sql: Sql
  /** As the superuser, who may reset the statistics of statements. */
  admin: Sql
  /** A new process of the noisy organisation with its endpoints; it waits for `start()`. */
  addNoise(part: Part, endpoints: number): Promise<Noise>
  /** The times of the quiet organisation during so many seconds, and the CPU in use. */
  measure(seconds: number, noise?: Noise): Promise<Measured>
  /** As `measure`, beside the control. */
  measureControl(share: Shares, seconds: number, noise: Noise): Promise<Measured>
  end(): Promise<void>
}

export async function startScene(): Promise<Scene> {
  const dataDir = testFolder()
  const stack = await startStack({ dataDir, ports: 'free' })
  const sql = postgres(stack.dbUrl, { max: 1, onnotice: () => {} })
  const admin = postgres(stack.adminDbUrl, { max: 1, onnotice: () => {} })
  const quiet = await startPart('quiet', stack.dbUrl)
  const load = await startPart('load', stack.dbUrl)
  const worker = startTaskWorker(stack.dbUrl)
  const [row] = await sql`
    select outbox.create_endpoint(${
    String(quiet.hello['origin'])
  }, '{quiet.*}', 'quiet') ->> 'id' as id`
  await noteStages(admin, row?.id)
  await sql.file(`${projectRoot}/supabase/local/start/order_saga.sql`)
  await admin`update outbox.saga set by_tokens = true`
  await stack.functions.targets.get('api')?.origin(ARRIVAL_MS)
  const postmaster = Number(Deno.readTextFileSync(`${dataDir}/pg/postmaster.pid`).split('\n')[0])
  let noises: Noise[] = []

  async function measure(seconds: number, noise?: Noise): Promise<Measured> {
    const pids = {
      worker: worker.pid,
      control: load.pid,
      noise: noise?.pid ?? 0,
      gateway: Deno.pid,
      api: stack.functions.pid('api') ?? 0,
    }
    const read = countCpu({ postmaster, others: Object.values(pids) })
    const readEach = Object.entries(pids).map(([name, pid]) => ({
      name,
      read: countCpu({ postmaster: 0, others: [pid] }),
    }))
    const { seen } = await quiet.ask<{ seen: Seen[] }>({ rate: RATE, seconds })
    const shares = read()
    return {
      times: seen.map(timeOf),
      shares,
      stages: await describeStages(admin, seen) + '; processors: ' +
        readEach.map(({ name, read }) => `${name} ${read().others.toFixed(2)}`).join(', '),
    }
  }

  return {
    sql,
    admin,
    measure,
    addNoise: async (part, endpoints) => {
      const noise = await startNoise(await optionsOf(stack, part.loops))
      noises = [...noises, noise]
      await addNoisyEndpoints(sql, noise.origin, part, endpoints)
      await addMessaging(sql, noise.whatsapp)
      return noise
    },
    measureControl: async (share, seconds, noise) => {
      await load.ask({ ...share, pieceMs: PIECE_MS })
      await warmUp()
      const measured = await measure(seconds, noise)
      await load.ask('stop')
      return measured
    },
    end: async () => {
      for (const noise of noises) await noise.stop()
      await worker.stop()
      await Promise.all([quiet.end(), load.end()])
      await sql.end()
      await admin.end()
      await stack.stop()
      await Deno.remove(dataDir, { recursive: true })
    },
  }
}

/** Before a measurement, until the load is in all queues. */
export function warmUp(): Promise<void> {
  return pause(WARM_UP_MS)
}

/** From commit to arrival, in ms. */
function timeOf({ committedAt, arrivedAt }: Seen): number {
  return arrivedAt === null ? ARRIVAL_MS : Math.max(0, arrivedAt - committedAt)
}

/** With the token of a user who may do all that a token may: what is bounded is bounded for tokens. */
async function optionsOf(
  stack: Stack,
  loops: readonly LoopName[],
): Promise<Parameters<typeof startNoise>[0]> {
  const token = await stack.keys.signUserJwt({
    iss: `${stack.apiUrl}/auth/v1`,
    app_metadata: { org_id: 'noisy', outhook_scopes: ['all'] },
  })
  return {
    api: `${stack.apiUrl}/functions/v1/api/v1`,
    headers: { authorization: `Bearer ${token}` },
    filters: [...heavyFilters],
    loops,
  }
}

function startPart(name: 'quiet' | 'load', dbUrl: string): Promise<Child> {
  const script = new URL(`./${name}.ts`, import.meta.url).pathname
  return startChild(name, [Deno.execPath(), 'run', '-A', '--cached-only', script, dbUrl])
}
