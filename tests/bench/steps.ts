/**
 * Where the time of one delivery goes, from the publish to the recorded result, in µs:
 *
 *   deno run -A tests/bench/steps.ts [--small]
 *
 * A worker of this process delivers to a receiver in another one. The steps in the database are functions whose time
 * Postgres counts. The steps in the worker are the CPU time of V8's profile, by the file that ran.
 */

import type { Sql } from 'postgres'
import { createLog } from '../../functions/_shared/base/log.ts'
import { connectDirect } from '../../functions/_shared/database/direct.ts'
import { webhookSender } from '../../functions/_shared/senders/webhook.ts'
import { workerOptions } from '../../functions/deliver/options.ts'
import { run as runWorker } from '../../functions/deliver/run.ts'
import { wireRun } from '../../functions/deliver/wire.ts'
import { startSink } from '../soak/_support/processes.ts'
import { runMeasurements } from './engine/command.ts'
import { withBench } from './engine/database.ts'
import type { Finding, Measurement, Size } from './engine/measurement.ts'
import type { Row } from './questions/_question.ts'
import { codeSteps, databaseSteps, otherCode } from './steps/code_steps.ts'
import { type Profile, profileOf, timeOfSteps } from './steps/profile.ts'

/** As many as the other parts of the benchmark have. */
const ENDPOINTS = 10
/** Events of a publish. */
const PER_PUBLISH = 500

export const steps: Measurement = {
  name: 'steps',
  title: 'Where the time of one delivery goes, from the publish to the recorded result',
  minutes: 1,
  run,
}

async function run(size: Size, say: (line: string) => void): Promise<Finding> {
  const events = size === 'full' ? 20_000 : 1_000
  let rows: Row[] = []
  const sink = await startSink()
  try {
    await withBench({ script: 'engine/dispatch.sql', jobs: [] }, async ({ sql, dbUrl }) => {
      await prepare(sql, sink.url)
      await publish(sql, events)
      await deliver(dbUrl, events)
      say(`${events} deliveries to warm up`)
      await sql`select pg_stat_reset()`
      await publish(sql, events)
      const profile = await profileOf(() => deliver(dbUrl, events))
      say(`${events} deliveries with a profile`)
      rows = rowsOf(await timeOfFunctions(sql), profile, events)
    })
  } finally {
    await sink.stop()
  }
  return {
    note:
      `${events} signed POSTs of 400 bytes to ${ENDPOINTS} endpoints, after a warm-up of as many; µs for one ` +
      'delivery. In the database it is the time of functions, with what they wait; in the worker it is CPU time. ' +
      'Both work at the same time, so a delivery a second needs less than the sum',
    columns: [{ key: 'us', label: 'µs', digits: 1 }, {
      key: 'share',
      label: '% of its part',
      digits: 0,
    }],
    rows,
    targets: [],
  }
}

async function prepare(sql: Sql, origin: string): Promise<void> {
  await sql`select outbox.set_setting('egress.allow_http', 'true'),
    outbox.set_setting('egress.allow_cidrs', '["127.0.0.0/8"]')`
  for (let n = 0; n < ENDPOINTS; n++) {
    await sql`
      select outbox.create_endpoint(${`${origin}/${n}`}, ${[`bench.e${n}`]},
        p_max_in_flight => 1000, p_quantum => 100)`
  }
  await sql`alter role postgres set track_functions = 'all'`
  await sql`set track_functions = 'all'`
}

async function publish(sql: Sql, events: number): Promise<void> {
  for (let from = 0; from < events; from += PER_PUBLISH) {
    await sql`
      select outbox.publish_many(jsonb_agg(jsonb_build_object('type', 'bench.e' || n % ${ENDPOINTS}::int,
        'payload', jsonb_build_object('pad', repeat('x', 200)))))
      from generate_series(${from}::int, ${Math.min(from + PER_PUBLISH, events) - 1}::int) n`
  }
}

/** A worker as it ships, until so many events are delivered and their results are recorded. */
async function deliver(url: string, events: number): Promise<void> {
  const stop = new AbortController()
  const database = connectDirect({ url })
  const deps = wireRun({
    database,
    transport: 'http1',
    log: createLog({ debug: false, write: () => {} }),
    routineLevel: 'debug',
    stop: stop.signal,
    senders: new Map([['webhook', webhookSender]]),
  })
  let left = events
  let failure = ''
  const observe: typeof deps.observe = (result) => {
    if (result.outcome === 'failed') failure = `${result.error_class}: ${result.error}`
    if (--left === 0 || failure !== '') stop.abort()
  }
  await runWorker({ ...deps, observe }, workerOptions)
  await deps.transport.close()
  await database.close()
  if (failure !== '') throw new Error(`a delivery failed: ${failure}`)
}

/** The ms of each function of the schema since the reset, with what it called. */
async function timeOfFunctions(sql: Sql): Promise<Map<string, number>> {
  await sql`select pg_stat_force_next_flush()`
  const rows = await sql<{ name: string; ms: number }[]>`
    select f.funcname as name, f.total_time as ms from pg_stat_user_functions f where f.schemaname = 'outbox'`
  if (!rows.some(({ name }) => name === 'dispatch')) throw new Error('Postgres counted no function')
  return new Map(rows.map(({ name, ms }) => [name, ms]))
}

/** The table: first the steps in the database, then those in the worker, each part with its sum. */
export function rowsOf(ms: Map<string, number>, profile: Profile, events: number): Row[] {
  const of = (functions: readonly string[]): number =>
    functions.reduce((sum, name) => sum + (ms.get(name) ?? 0), 0) * 1000 / events
  const inDatabase = databaseSteps.map(({ step, functions }): [string, number] => [
    step,
    of(functions),
  ])
  const [publishing = ['', 0]] = inDatabase
  const named = inDatabase.reduce((sum, [, us]) => sum + us, 0) - publishing[1]
  inDatabase.push(['call: all other work of a dispatch', Math.max(0, of(['dispatch']) - named)])
  const times = timeOfSteps(profile, codeSteps, otherCode)
  const names = [...codeSteps.map(({ step }) => step), otherCode, 'collect garbage']
  const inWorker = names.map((step): [string, number] => [step, (times.get(step) ?? 0) / events])
  return [...partOf('database', inDatabase), ...partOf('worker', inWorker)]
}

function partOf(at: string, steps: [string, number][]): Row[] {
  const sum = steps.reduce((all, [, us]) => all + us, 0)
  const row = (series: string, us: number): Row => ({
    series,
    at,
    values: { us, share: 100 * us / sum },
  })
  return [...steps.map(([step, us]) => row(step, us)), row('sum', sum)]
}

if (import.meta.main) await runMeasurements('deno run -A tests/bench/steps.ts', [steps])
