/** What an operator does with one huge organisation, as docs/many-databases.md says, however often a step fails. */

import { print } from '../../../supabase/local/print.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import type { Random } from '../../concurrency/_support/random.ts'
import { docsBlock } from '../../project/_docs.ts'
import { type Moment, moments, type Run, runSpread } from './command.ts'
import { type Database, names, org, type SpreadWorld } from './world.ts'

/** After the comparison of spread-org finds only what a new database has taken, too. */
const COMPARED_EVENTS = 200
/** So many runs of spread-org may be killed before one is let alone. */
const MOST_KILLS = 3
/** After so many runs the source is paused, because an endpoint is in use or the databases are never equal. */
const PATIENCE_RUNS = 3
const STEP_MS = 240_000

/** The databases that have the organisation now, and what was done. */
export class Operator {
  active: string[] = ['eu-1', 'eu-2']
  /** How often spread-org was killed at each moment, and how often it ran. */
  readonly kills = new Map<Moment, number>()
  runs = 0
  moved = 0

  constructor(readonly world: SpreadWorld, readonly random: Random) {}

  /** The first start: all endpoints are in the first database, and each moves to that of its hash. */
  async begin(): Promise<void> {
    await this.#routeTo(this.active)
    await this.#spread()
  }

  /** Adds the database that has no endpoints yet, or no longer. */
  async add(): Promise<void> {
    const name = names.find((one) => !this.active.includes(one))
    if (name === undefined) throw new Error('all databases are there')
    const lanes = ['outhook', ...this.active.map((one) => `outhook.${one}`)]
    const before = await takenBy(this.world, name)
    this.active = [...this.active, name]
    await this.#routeTo(this.active)
    await this.#withoutEvents(() => untilEmpty(this.world, lanes))
    await until(
      `${name} has taken ${COMPARED_EVENTS} events`,
      async () => await takenBy(this.world, name) >= before + COMPARED_EVENTS,
    )
    await this.#spread()
    print(`  ${name} was added`)
  }

  /** Empties one of the databases and takes it away. */
  async remove(): Promise<void> {
    const [name = ''] = this.random.shuffled(this.active)
    await this.#spread([name])
    const before = this.active
    this.active = before.filter((one) => one !== name)
    await this.#routeTo(this.active, before)
    await untilEmpty(this.world, [`outhook.${name}`])
    await this.#routeTo(this.active)
    print(`  ${name} was emptied and taken away`)
  }

  /** Writes the routes and starts all consumers anew, with further databases if `into` has them. */
  async #routeTo(active: readonly string[], into = active): Promise<void> {
    const { routes, consumers } = this.world
    await Deno.writeTextFile(routes, JSON.stringify({ '*': [active[0]], [org]: active }))
    await consumers.restart(into)
  }

  /** Runs spread-org until all endpoints are where they belong. Some of its runs are killed. */
  async #spread(empty: readonly string[] = []): Promise<void> {
    let kills = 0
    const run = async (): Promise<Run> => {
      const isSpared = kills >= MOST_KILLS || this.random.int(3) === 0
      const ended = await this.#run(empty, isSpared ? null : this.random.int(moments.length))
      if (ended.code === null) kills++
      return ended
    }
    for (let turn = 0; turn < PATIENCE_RUNS; turn++) {
      if ((await run()).code === 0) return
    }
    await this.#withoutEvents(async () => {
      let last: Run = { code: null, lines: [] }
      const isDone = async (): Promise<boolean> => {
        last = await run()
        return last.code === 0
      }
      if (await waitUntil(isDone, { timeoutMs: STEP_MS, everyMs: 500 })) return
      throw new Error(
        `spread-org ended with ${last.code} again and again: ${last.lines.join('\n')}`,
      )
    })
  }

  async #run(empty: readonly string[], killAt: number | null): Promise<Run> {
    const moment = killAt === null ? null : moments[killAt] ?? null
    const databases = this.active
    const run = await runSpread(this.world, { databases, empty, moment, random: this.random })
    this.runs++
    this.moved += run.lines.filter((line) => / has moved from /.test(line)).length
    if (moment !== null && run.code === null) {
      this.kills.set(moment, (this.kills.get(moment) ?? 0) + 1)
    }
    if (run.code === 2) throw new Error(`spread-org refuses its options: ${run.lines.join('\n')}`)
    return run
  }

  /** The source gives the broker nothing meanwhile; publishers go on. */
  async #withoutEvents(act: () => Promise<void>): Promise<void> {
    const { source: { server } } = this.world
    const own = (name: string): string => docsBlock(name).replaceAll('org-7', org)
    await server.surely('a pause', (sql) => sql.unsafe(own('into-pause')))
    await act()
    await server.surely('the end of the pause', (sql) => sql.unsafe(own('into-resume')))
  }
}

/** How many events a database has taken. */
async function takenBy({ targets }: SpreadWorld, name: string): Promise<number> {
  const { server } = targets.get(name) as Database
  let count = 0
  await server.surely('counting events', async (sql) => {
    const [row] = await sql`
      select count(*)::integer as n from outbox.event where org_id = ${org}`
    count = row?.n
  })
  return count
}

/** Waits until each of these queues has been empty once. */
export async function untilEmpty(
  { rabbit }: SpreadWorld,
  queues: readonly string[],
): Promise<void> {
  const left = new Set(queues)
  await until(`these are empty: ${queues.join(', ')}`, async () => {
    const messages = await rabbit.messages().catch(() => null)
    for (const queue of queues) if (messages?.get(queue) === 0) left.delete(queue)
    return left.size === 0
  })
}

/** Throws if it is not true in time. */
export async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  if (await waitUntil(isTrue, { timeoutMs: STEP_MS, everyMs: 200 })) return
  throw new Error(`waited in vain until ${what}`)
}
