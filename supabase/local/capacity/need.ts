import { costOfEvent, type Costs, type Load } from './model.ts'
import { plan, type Size, sizes } from './prices.ts'

/** A day has busy hours: at its peak so many times its mean. */
const PEAK = 4
/** Of a processor that is used, so that a queue does not build up. */
const BUSY = 0.7
/** The default days for which events and attempts are stored, with today. */
const DAYS = 9
/** A run of the edge function ends after so many deliveries, or after so many seconds: its defaults. */
const RUN_DELIVERIES = 2_000
const RUN_SECONDS = 25
/** Of a run, measured with four of them at a time: functions/deliver/options.ts. */
const RUN_DELIVERIES_PER_SECOND = 7_800 / 4
/** Of an idle database without a worker: tests/bench/results/engine/amd-epyc.md. */
const IDLE_CORES = 0.0035
const IDLE_WAL_BYTES_PER_DAY = 570e3 * 24 * 60
/** Of a worker. */
const WORKER_CONNECTIONS = 4
/** Left for the application, the API and the jobs. */
const OTHER_CONNECTIONS = 30
const GB = 1e9

/** What a load needs. Rates are those of the peak. */
export interface Need {
  eventsPerSecond: number
  deliveriesPerSecond: number
  postgresCores: number
  workerCores: number
  workers: number
  /** Edge runs at the same time, instead of workers. */
  runs: number
  walBytesPerSecond: number
  walBytesPerDay: number
  storedBytes: number
  connections: number
  invocationsPerMonth: number
  egressBytesPerMonth: number
}

/** How much of each limit of a size a need uses; 1: all of it. */
export type Use = Record<'processors' | 'disk throughput' | 'database size' | 'connections', number>

export function needOf(costs: Costs, load: Load): Need {
  const cost = costOfEvent(costs, load)
  const eventsPerSecond = load.eventsPerDay / 86_400 * PEAK
  const attempts = load.eventsPerDay * load.fanOut * (1 + load.failRate)
  const workerCores = eventsPerSecond * cost.workerUs / 1e6
  const workers = Math.max(1, Math.ceil(workerCores / BUSY))
  const deliveriesPerSecond = eventsPerSecond * load.fanOut
  const runs = Math.max(1, Math.ceil(deliveriesPerSecond / RUN_DELIVERIES_PER_SECOND / BUSY))
  // A run that is alive needs no kick, so there is at most one for each event.
  const runsPerDay = Math.max(
    attempts / RUN_DELIVERIES,
    Math.min(load.eventsPerDay, 86_400 / RUN_SECONDS),
  )
  return {
    eventsPerSecond,
    deliveriesPerSecond,
    postgresCores: Math.max(IDLE_CORES, eventsPerSecond * cost.postgresUs / 1e6),
    workerCores,
    workers,
    runs,
    walBytesPerSecond: Math.max(IDLE_WAL_BYTES_PER_DAY / 86_400, eventsPerSecond * cost.walBytes),
    walBytesPerDay: Math.max(IDLE_WAL_BYTES_PER_DAY, load.eventsPerDay * cost.walBytes),
    storedBytes: load.eventsPerDay * cost.storedBytes * DAYS,
    connections: workers * WORKER_CONNECTIONS + OTHER_CONNECTIONS,
    invocationsPerMonth: runsPerDay * 30,
    egressBytesPerMonth: attempts * load.payloadKib * 1_024 * 30,
  }
}

/** How much of the limits of a size is used. */
export function useOf(need: Need, size: Size): Use {
  return {
    processors: need.postgresCores / (size.cores * BUSY),
    // The log, and later the same rows in the tables.
    'disk throughput': 2 * need.walBytesPerSecond / (size.diskMegabits * 125_000),
    'database size': need.storedBytes / (size.databaseGb * GB),
    connections: need.connections / size.connections,
  }
}

/** The limit that is met first. */
export function firstLimit(use: Use): [name: string, share: number] {
  const [first = ['', 0] as [string, number]] = Object.entries(use).sort(([, a], [, b]) => b - a)
  return first
}

/** The smallest size that is enough; null if none is. */
export function sizeFor(need: Need): Size | null {
  return sizes.find((size) => firstLimit(useOf(need, size))[1] <= 1) ?? null
}

/** Dollars a month on the plan Pro, with edge runs. */
export function priceOf(need: Need, size: Size): number {
  const beyond = (used: number, included: number): number => Math.max(0, used - included)
  return plan.dollars + size.dollars - plan.computeCredit +
    Math.ceil(beyond(need.invocationsPerMonth, plan.invocations.included) / 1e6) *
      plan.invocations.perMillion +
    beyond(need.egressBytesPerMonth / GB, plan.egress.includedGb) * plan.egress.perGb +
    beyond(need.storedBytes / GB, plan.disk.includedGb) * plan.disk.perGb
}
