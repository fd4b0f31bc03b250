/** A run as the database sees it, whose receivers are the model, and whose time is the simulated one. */

import type { Sql } from 'postgres'
import { type Report, Run } from '../../concurrency/_support/dispatch.ts'
import type { Random } from '../../concurrency/_support/random.ts'
import type { DayLedger } from './ledger.ts'
import { answer } from './receivers.ts'

/** How many deliveries a run sends at the same time. */
export const SLOTS = 400
/** A response that comes within this time is reported at once. */
const AT_ONCE_MS = 5_000

interface Sent {
  report: Report
  /** When its response is here, in ms since 1970. */
  at: number
}

export class SimulatedRun {
  readonly #sql: Sql
  readonly #random: Random
  readonly #ledger: DayLedger
  #run: Run
  #sent: Sent[] = []
  /** Errors in responses, and ignored results. */
  readonly problems: string[] = []

  constructor(sql: Sql, random: Random, ledger: DayLedger) {
    this.#sql = sql
    this.#random = random
    this.#ledger = ledger
    this.#run = new Run(sql)
  }

  /** Whether a response is here that is not reported. */
  hasCome(nowMs: number): boolean {
    return this.#sent.some(({ at }) => at <= nowMs)
  }

  /**
   * Reports what has come, claims, and sends it. Returns how many results it reported and deliveries it claimed and
   * routed: after none, nothing is left for it at this time. A result counts, as it may publish an operational event,
   * which only the next call routes.
   */
  async work(nowMs: number, isDown: (endpoint: string) => boolean): Promise<number> {
    const come = this.#sent.filter(({ at }) => at <= nowMs)
    this.#sent = this.#sent.filter(({ at }) => at > nowMs)
    const got = await this.#run.call(come.map(({ report }) => report), SLOTS - this.#sent.length)
    for (const { report } of come) {
      if (report.outcome === 'delivered') this.#ledger.accept(report.endpoint, report.event)
    }
    if (got.error !== null) this.problems.push(`dispatch(): ${JSON.stringify(got.error)}`)
    if (got.stale > 0) this.problems.push(`${got.stale} results were ignored`)
    if (got.stop !== null) this.problems.push(`a run was stopped: ${got.stop}`)
    for (const { event, endpoint, attempt } of got.deliveries) {
      const result = answer(this.#random, isDown(endpoint))
      const takes = result.duration_ms <= AT_ONCE_MS ? 0 : result.duration_ms
      this.#sent.push({ report: { event, endpoint, attempt, ...result }, at: nowMs + takes })
    }
    return come.length + got.deliveries.length + got.routed
  }

  /** When the next response comes; infinite if none is awaited. */
  nextAt(): number {
    return this.#sent.reduce((least, { at }) => Math.min(least, at), Infinity)
  }

  /** The run dies with all that it has claimed and not sent; another one begins. */
  async die(): Promise<void> {
    await this.#run.call([], SLOTS - this.#sent.length)
    this.#sent = []
    this.#run = new Run(this.#sql)
  }
}
