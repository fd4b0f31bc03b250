/** Takes the figures of a day, just after midnight and its jobs. */

import type { Sql } from 'postgres'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import type { Behind, DayFigures, Retries, TableSize } from './figures.ts'
import type { Jobs } from './jobs.ts'
import type { DayLedger } from './ledger.ts'
import type { SimulatedRun } from './run.ts'
import { FAN_OUT, type World } from './world.ts'

const RECOUNT = `${projectRoot}/tests/concurrency/_support/recount.sql`
const HOUR_MS = 3_600_000

export async function measure(
  { world, jobs, runs, ledger, day }: {
    world: World
    jobs: Jobs
    runs: readonly SimulatedRun[]
    ledger: DayLedger
    day: number
  },
): Promise<DayFigures> {
  const { sql, warnings } = world
  await sql`select outbox.fold_counters()`
  const to = new Date(world.now() - HOUR_MS)
  const from = new Date(to.getTime() - 24 * HOUR_MS)
  const [retries] = await query<Retries>(sql, 'retries.sql', [from, to])
  const [behind] = await query<Behind>(sql, 'behind.sql')
  const sizes = await query<TableSize & { name: string }>(sql, 'sizes.sql')
  const [counts] = await sql<{ open: number; dead: number; counted: number }[]>`
    select (select count(*)::integer from outbox.delivery)
        + (select ${FAN_OUT} * count(*)::integer from outbox.unrouted u where u.org_id <> 'outhook') as open,
      (select count(*)::integer from outbox.dead_letter x
        where x.replayed_at is null and x.discarded_at is null) as dead,
      (select coalesce(sum(c.n), 0)::integer from (
        select metric, labels, n from outbox.counter
        union all select metric, labels, n from outbox.counter_change
      ) c where c.metric = 'deliveries' and c.labels[2] = 'delivered') as counted`
  const recount = await sql.unsafe<{ what: string; problem: string }[]>(
    await Deno.readTextFile(RECOUNT),
  )
  if (retries === undefined || behind === undefined || counts === undefined) throw new Error('none')
  const { open, dead, counted } = counts
  const { accepted, discarded, due } = ledger
  const problems = [...runs.flatMap((run) => run.problems.splice(0)), ...warnings.splice(0)]
  const figures: DayFigures = {
    day,
    tables: Object.fromEntries(sizes.map(({ name, ...size }) => [name, size])),
    most_lanes: jobs.mostLanes,
    behind: { ...behind, partitions: jobs.problems },
    retries,
    ledger: { due, accepted, dead, discarded, open },
    counted,
    miscounted: recount.map(({ what, problem }) => `${what}: ${problem}`),
    problems,
    tick_ms: Math.round(jobs.slowest),
  }
  jobs.problems = []
  jobs.slowest = 0
  jobs.mostLanes = 0
  return figures
}

async function query<T extends object>(
  sql: Sql,
  file: string,
  values: Date[] = [],
): Promise<T[]> {
  const text = await Deno.readTextFile(new URL(file, import.meta.url))
  return [...await sql.unsafe<T[]>(text, values)]
}
