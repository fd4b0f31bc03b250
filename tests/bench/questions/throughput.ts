/** How many deliveries a second? All sides take turns at working off the same backlog. */

import type { Bench } from '../run/bench.ts'
import { drain, type Round } from '../run/drain.ts'
import { attempt, enter, leave } from '../run/enter.ts'
import { median } from '../run/stats.ts'
import type { SideSpec } from '../sides/catalog.ts'
import type { Answer, Column, Plan, Question, Row } from './_question.ts'

const ENDPOINTS = 10
const WARM_UP = 5_000

const columns: Column[] = [
  { key: 'perSecond', label: 'deliveries/s', digits: 0 },
  { key: 'toUndici', label: '× undici', digits: 2 },
  { key: 'workerCpu', label: 'worker µs', digits: 0 },
  { key: 'storeCpu', label: 'store µs', digits: 0 },
  { key: 'gatewayCpu', label: 'gateway µs', digits: 0 },
  { key: 'receiverCpu', label: 'receiver µs', digits: 0 },
  { key: 'wal', label: 'WAL bytes', digits: 0 },
  { key: 'peakMb', label: 'worker MB', digits: 0 },
]

export const throughput: Question = {
  name: 'throughput',
  title: 'Deliveries a second',
  run: answer,
}

async function answer(bench: Bench, plan: Plan): Promise<Answer> {
  const events = plan.events ?? (plan.quick ? 3_000 : 20_000)
  const rounds = plan.rounds ?? (plan.quick ? 1 : 5)
  const problems: string[] = []
  const contestants = await enter(bench, plan.sides, {
    endpoints: ENDPOINTS,
    hasPublisher: false,
  }, problems)
  const results = new Map<string, Round[]>()
  // What a failed round leaves behind would fail each later one, and cost its time.
  const out = new Set<SideSpec>()
  // Round 0 warms up and does not count.
  for (let round = 0; round <= rounds; round++) {
    for (const { spec, worker } of contestants) {
      if (out.has(spec)) continue
      const count = round === 0 ? Math.min(events, WARM_UP) : events
      const result = await attempt(bench, problems, () => drain(bench, spec, worker, count))
      if (result === undefined) out.add(spec)
      if (round === 0 || result === undefined) continue
      results.set(spec.name, [...results.get(spec.name) ?? [], result])
      bench.log(
        `round ${round}/${rounds}  ${spec.name.padEnd(20)} ${result.perSecond.toFixed(0)}/s`,
      )
    }
  }
  await leave(contestants)
  return {
    note:
      `${events} signed POSTs of 400 bytes to ${ENDPOINTS} endpoints, after a warm-up; the median ` +
      `of ${rounds} alternating rounds. The kernel counts CPU and memory, and the server counts WAL. ` +
      'CPU and WAL are for one delivery',
    columns,
    rows: summarise(plan.sides, results),
    chart: 'perSecond',
    problems,
  }
}

function summarise(specs: SideSpec[], results: Map<string, Round[]>): Row[] {
  const of = (name: string, key: keyof Round): number =>
    median((results.get(name) ?? []).map((round) => round[key]))
  const ceiling = of('undici deno', 'perSecond')
  return specs.filter(({ name }) => results.has(name)).map(({ name, mode, isCeiling, source }) => ({
    series: name,
    values: {
      perSecond: of(name, 'perSecond'),
      toUndici: Number.isNaN(ceiling) ? null : of(name, 'perSecond') / ceiling,
      workerCpu: of(name, 'workerCpu'),
      storeCpu: isCeiling ? null : of(name, 'storeCpu'),
      gatewayCpu: mode === 'rpc' ? of(name, 'gatewayCpu') : null,
      receiverCpu: of(name, 'receiverCpu'),
      wal: source === 'bullmq' || isCeiling ? null : of(name, 'wal'),
      peakMb: of(name, 'peakMb'),
    },
  }))
}
