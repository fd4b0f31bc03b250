/** `outhook spread-org` in a process of its own, which the adversary may kill between its commits. */

import type { SpreadOrgOptions } from '../../../package/command/spread_org/spread_org.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { type ConsumerProcess, startSource } from '../../consumer/_support/consumer_process.ts'
import type { Random } from '../../concurrency/_support/random.ts'
import { pause } from '../chaos/fault.ts'
import { type Database, org, type SpreadWorld } from './world.ts'

/** When the command is killed: at any time, after an endpoint was copied, or after one has left and waits to be opened. */
export const moments = ['at any time', 'copied', 'left'] as const
export type Moment = typeof moments[number]

/** Longer than a run takes to begin. */
const LONGEST_MS = 4_000
/** The statement and the commit with which a batch leaves take some of these. */
const STEP_MS = 150
const RUN_MS = 180_000

/** How a run ended. */
export interface Run {
  /** null: it was killed. */
  code: number | null
  /** What it has written. */
  lines: readonly string[]
}

/** Runs it between these databases, of which `empty` keep no endpoint. With a moment, it is killed then, if that comes. */
export async function runSpread(
  world: SpreadWorld,
  { databases, empty = [], moment, random }: {
    databases: readonly string[]
    empty?: readonly string[]
    moment: Moment | null
    random: Random
  },
): Promise<Run> {
  const options: SpreadOrgOptions = {
    ...{ routes: world.routes, database: [...databases], empty: [...empty] },
    ...{ wait: 20, dryRun: false, yes: true },
  }
  const process = startSource(
    'tests/soak/spread/spread_process.ts',
    [org, JSON.stringify(options)],
    world.env,
  )
  const ended = { is: false }
  void process.ended.then(() => ended.is = true)
  const late = setTimeout(() => kill(process), RUN_MS)
  if (moment !== null) {
    await reach(world, moment, random, () => ended.is)
    kill(process)
  }
  const how = await process.ended
  clearTimeout(late)
  if (typeof how === 'string' && moment === null) {
    throw new Error(`spread-org took more than ${RUN_MS} ms: ${process.lines.join(' | ')}`)
  }
  return { code: typeof how === 'number' ? how : null, lines: process.lines }
}

/** Resolves at this moment of a run, or after its end. */
async function reach(
  { targets }: SpreadWorld,
  moment: Moment,
  random: Random,
  isOver: () => boolean,
): Promise<void> {
  const forMs = random.int(LONGEST_MS)
  if (moment === 'at any time') {
    await waitUntil(isOver, { timeoutMs: forMs })
    return
  }
  const all = [...targets.values()]
  const isReached = async (): Promise<boolean> => isOver() || await isOnItsWay(all, moment)
  await waitUntil(isReached, { timeoutMs: RUN_MS, everyMs: 10 })
  if (!isOver() && moment === 'copied') await pause(random.int(4) * STEP_MS)
}

/** Whether an endpoint has been copied and not opened; with `left`, also whether it has left the other database. */
async function isOnItsWay(all: readonly Database[], moment: Moment): Promise<boolean> {
  const [copied, left] = await Promise.all([
    idsIn(all, "outbox.arrives_from(e) is not null and e.status <> 'deleted'"),
    idsIn(
      all,
      "e.status = 'deleted' and starts_with(e.status_reason, outbox.departure_reason(''))",
    ),
  ])
  return moment === 'copied' ? copied.size > 0 : [...copied].some((id) => left.has(id))
}

async function idsIn(all: readonly Database[], condition: string): Promise<Set<string>> {
  const ids = new Set<string>()
  await Promise.all(all.map(({ server }) =>
    server.tell(async (sql) => {
      const rows = await sql.unsafe(`select e.id from outbox.endpoint e where ${condition}`)
      for (const { id } of rows) ids.add(id)
    })
  ))
  return ids
}

function kill(process: ConsumerProcess): void {
  try {
    process.kill('SIGKILL')
  } catch {
    // It has ended.
  }
}
