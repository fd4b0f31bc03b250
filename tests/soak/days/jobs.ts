/** The jobs of pg_cron, with their own commands, at their times of the simulated clock. */

import type { World } from './world.ts'

/** A tick does everything in second 0, but removes ended subscriptions in second 5: see upkeep(). */
const TICK_SECONDS = [0, 5] as const

/** How often pg_cron starts a job of the night, from midnight to one o'clock. */
const STARTS = 12

export class Jobs {
  readonly #world: World
  /** The slowest tick since the last look, in ms. */
  slowest = 0
  /** The most lanes since the last look. */
  mostLanes = 0
  /** Partitions that could not be made or dropped. */
  problems: string[] = []

  constructor(world: World) {
    this.#world = world
  }

  /** The ticks of one step. The other seconds would do the same again. */
  async tick(): Promise<void> {
    const { sql } = this.#world
    const start = this.#world.now()
    for (const second of TICK_SECONDS) {
      await this.#world.setClock(start + second * 1000)
      const began = performance.now()
      await sql`select outbox.tick()`
      this.slowest = Math.max(this.slowest, performance.now() - began)
    }
  }

  /** Lanes of keys exist while something waits in them, as in an outage. */
  async countLanes(): Promise<void> {
    const [row] = await this.#world.sql<{ n: number }[]>`
      select count(*)::integer as n from outbox.lane`
    this.mostLanes = Math.max(this.mostLanes, row?.n ?? 0)
  }

  /** Once an hour. */
  async addPartitions(): Promise<void> {
    const [row] = await this.#world.sql<{ made: { late: string[]; failed?: string[] } }[]>`
      select outbox.add_partitions() as made`
    for (const name of [...row?.made.late ?? [], ...row?.made.failed ?? []]) {
      this.problems.push(`no partition was made: ${name}`)
    }
  }

  /** The cleanup, and the starts of the job that drops partitions, after midnight. */
  async night(): Promise<void> {
    const { sql, jobs, without } = this.#world
    if (without === 'cleanup') return
    for (let start = 0; start < STARTS; start++) {
      await sql.unsafe(jobs['outhook-cleanup'] ?? '')
      await sql.unsafe(jobs['outhook-drop-partitions'] ?? '')
    }
    const [row] = await sql<{ dropped: { more: boolean; late?: string[]; failed?: string[] } }[]>`
      select outbox.drop_partitions(1) as dropped`
    const { more, late = [], failed = [] } = row?.dropped ?? { more: true }
    if (more) this.problems.push('old partitions are left to drop')
    for (const name of [...late, ...failed]) this.problems.push(`not dropped: ${name}`)
  }

  /** The vacuum of the busiest tables. At 100 million deliveries a day, the job makes one for 70,000. */
  async vacuum(): Promise<void> {
    const { sql, jobs, without } = this.#world
    if (without !== 'vacuum') await sql.unsafe(jobs['outhook-vacuum'] ?? '')
  }
}
