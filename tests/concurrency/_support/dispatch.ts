/** A run as the database sees it: numbered calls of dispatch(), each answer checked for its shape. */

import postgres, { type Sql } from 'postgres'
import { z } from 'zod'
import { contractRange } from '../../../functions/_shared/contract/range.ts'
import { type Delivery, dispatchResponse } from '../../../functions/_shared/contract/contract.ts'

/** The answer with what no run reads: how many results counted, and whether the call came before. */
const wholeAnswer = dispatchResponse.extend({ applied: z.int(), repeat: z.boolean() })

export type WholeAnswer = z.infer<typeof wholeAnswer>

/** What became of one delivery; only what the database decides by. */
export type Report = {
  event: string
  endpoint: string
  attempt: number
  outcome: 'delivered' | 'failed' | 'released' | 'renew'
  status?: number
  error_class?: string
  code?: string
  provider_id?: string
  provider?: Record<string, string>
}

/** Calls dispatch() once. */
export async function dispatch(
  sql: Sql,
  call: { run: string; seq: number; results?: Report[]; limit?: number; refuse?: boolean },
): Promise<WholeAnswer> {
  const { run, seq, results = [], limit = 0, refuse = false } = call
  const contract = refuse ? sql.json({ ...contractRange, refuse }) : null
  const [row] = await sql<{ answer: unknown }[]>`
    select outbox.dispatch(${run}, ${seq}, ${sql.json(results)}, ${limit}, 'worker',
      p_contract => ${contract}) as answer`
  return wholeAnswer.parse(row?.answer)
}

/** A run over one session: numbers its calls. */
export class Run {
  readonly id = crypto.randomUUID()
  #seq = 0
  readonly #sql: Sql

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** The next call of the run. */
  async call(results: Report[] = [], limit = 0): Promise<WholeAnswer> {
    this.#seq += 1
    return await dispatch(this.#sql, { run: this.id, seq: this.#seq, results, limit })
  }

  /** As `call()`; a call that fails is repeated once, and requests to refuse rows. */
  async callOrIsolate(results: Report[] = [], limit = 0): Promise<WholeAnswer> {
    this.#seq += 1
    const call = { run: this.id, seq: this.#seq, results, limit }
    try {
      return await dispatch(this.#sql, call)
    } catch (cause) {
      if (!(cause instanceof postgres.PostgresError)) throw cause
      return await dispatch(this.#sql, { ...call, refuse: true })
    }
  }
}

/** A result for a claimed delivery. */
export function report(delivery: Delivery, outcome: Report['outcome'] = 'delivered'): Report {
  const { event, endpoint, attempt } = delivery
  const key = { event, endpoint, attempt }
  if (outcome === 'delivered') return { ...key, outcome, status: 200 }
  if (outcome === 'failed') return { ...key, outcome, status: 503 }
  return { ...key, outcome }
}

/** Routes, claims and delivers until nothing is open and due; returns how many were delivered. Throws on an error in an answer. */
export async function drain(sql: Sql, limit = 400): Promise<number> {
  const run = new Run(sql)
  let results: Report[] = []
  let delivered = 0
  while (true) {
    const answer = await run.call(results, limit)
    if (answer.error !== null) throw new Error(`dispatch: ${JSON.stringify(answer.error)}`)
    delivered += answer.applied
    if (results.length + answer.routed + answer.deliveries.length === 0) return delivered
    results = answer.deliveries.map((delivery) => report(delivery))
  }
}
