import type { MetricsResult } from './contract.ts'
import type { Family, Sample } from './family.ts'
import { age, at, gauge, since, single } from './gauge.ts'
import { moduleGauges } from './module_gauges.ts'

/** All gauges as families. Ages use only the database's clock. */
export function gaugeFamilies(result: MetricsResult): Family[] {
  return [
    ...queueGauges(result),
    ...endpointGauges(result),
    ...engineGauges(result),
    ...databaseGauges(result),
    ...moduleGauges(result.gauges),
  ]
}

function queueGauges(
  { queue: { endpoints, due_since, open_since }, events, now }: MetricsResult,
): Family[] {
  const byStatus = (
    value: (group: typeof endpoints[number]) => number,
    groups = endpoints,
  ): Sample[] =>
    groups.map((group) => ({
      labels: [['kind', group.kind], ['status', group.status]],
      value: value(group),
    }))
  // Keys that are halted are no endpoints.
  const ofEndpoints = endpoints.filter(({ status }) => status !== 'halted')
  return [
    gauge(
      'outhook_endpoints',
      'Endpoints by kind and status.',
      byStatus(({ n }) => n, ofEndpoints),
    ),
    gauge(
      'outhook_deliveries_open',
      'Deliveries that have not ended, by the status of their endpoint. halted: they wait behind a ' +
        'dead letter of their key. All except enabled are held.',
      byStatus(({ open }) => open),
    ),
    gauge(
      'outhook_deliveries_in_flight',
      'Requests in flight.',
      byStatus(({ in_flight }) => in_flight, ofEndpoints),
    ),
    age(
      'outhook_oldest_due',
      'How long the oldest delivery has been due; 0 if none is due.',
      since(now, due_since),
    ),
    age(
      'outhook_oldest_open_breaker',
      'The longest time that an endpoint with an open breaker has failed.',
      since(now, open_since),
    ),
    single(
      'outhook_events_unrouted',
      'Committed events that are not routed yet, counted up to 10,000.',
      events.unrouted,
    ),
    age(
      'outhook_oldest_unrouted',
      'How long the oldest unrouted event has waited; 0 if there is none.',
      since(now, events.unrouted_since),
    ),
    single(
      'outhook_events_set_aside',
      'Events that could not be routed and wait for an operator, counted up to 10,000.',
      events.set_aside,
    ),
    single(
      'outhook_dead_letters_waiting',
      'Dead letters that are neither replayed nor discarded, counted up to 10,000.',
      events.dead_letters,
    ),
  ]
}

function endpointGauges({ queue: { named }, now }: MetricsResult): Family[] {
  const of = (value: (endpoint: typeof named[number]) => number): Sample[] =>
    named.map((endpoint) => ({
      labels: [['endpoint', endpoint.endpoint], ['org', endpoint.org], ['kind', endpoint.kind]],
      value: value(endpoint),
    }))
  const which = 'of the listed endpoints (settings metrics.top_endpoints, per_endpoint).'
  return [
    gauge(
      'outhook_endpoint_open_deliveries',
      `Open deliveries, ${which}`,
      of(({ open }) => open),
    ),
    gauge(
      'outhook_endpoint_consecutive_failures',
      `Failures since the last success, ${which}`,
      of(({ failures }) => failures),
    ),
    gauge(
      'outhook_endpoint_failing_seconds',
      `Time since the first of these failures, ${which}`,
      of(({ failing_since }) => since(now, failing_since)),
      'seconds',
    ),
    gauge(
      'outhook_endpoint_oldest_due_seconds',
      `Age of the oldest due delivery, ${which}`,
      of(({ due_since }) => since(now, due_since)),
      'seconds',
    ),
  ]
}

function engineGauges({ engine, now, version }: MetricsResult): Family[] {
  const runs = { edge: 0, worker: 0, ...engine.runs }
  const tables = engine.partitions ?? []
  return [
    gauge('outhook_build_info', 'The version of the schema.', [
      { labels: [['version', version]], value: 1 },
    ]),
    single(
      'outhook_delivery_enabled',
      'Whether the setting worker.enabled is on.',
      Number(engine.enabled),
    ),
    single(
      'outhook_copy',
      'Whether runs get nothing because the database belongs to another project.',
      Number(engine.copy),
    ),
    gauge(
      'outhook_runs_alive',
      'Runs that polled in the last 10 s, or in worker.poll_interval_ms if that is longer.',
      Object.entries(runs).map(([kind, value]) => ({ labels: [['kind', kind]], value })),
    ),
    ...at('outhook_tick', 'Time since the last tick.', now, engine.tick_at),
    ...at('outhook_kick', 'Time since the last kick.', now, engine.kick_at),
    gauge(
      'outhook_kicks_waiting',
      'Kicks that pg_net has not sent; no sample if its queue is larger than 8 MB.',
      engine.kicks_waiting === null ? [] : [{ labels: [], value: engine.kicks_waiting }],
    ),
    single('outhook_replay_jobs', 'Replay jobs that are running or paused.', engine.replay_jobs),
    gauge(
      'outhook_default_partition_rows',
      'Rows whose day had no partition, counted up to 10,000.',
      Object.entries(engine.in_default)
        .map(([table, value]) => ({ labels: [['table', table]], value })),
    ),
    gauge(
      'outhook_partitions',
      'The number of daily partitions.',
      tables.map(({ table, n }) => ({ labels: [['table', table]], value: n })),
    ),
    gauge(
      'outhook_partitions_ahead_seconds',
      'How far into the future partitions exist.',
      tables.map(({ table, until }) => ({ labels: [['table', table]], value: until - now })),
      'seconds',
    ),
    gauge(
      'outhook_partitions_bytes',
      'The size of the partitions without indexes, as of the last vacuum.',
      tables.map(({ table, bytes }) => ({ labels: [['table', table]], value: bytes })),
      'bytes',
    ),
  ]
}

function databaseGauges({ database, now }: MetricsResult): Family[] {
  const tables = database.tables ?? []
  return [
    gauge(
      'outhook_table_live_rows',
      'Live rows of the busy tables, by the statistics of Postgres.',
      tables.map(({ table, live }) => ({ labels: [['table', table]], value: live })),
    ),
    gauge(
      'outhook_table_dead_rows',
      'Dead rows that vacuum has not removed yet, by the statistics of Postgres.',
      tables.map(({ table, dead }) => ({ labels: [['table', table]], value: dead })),
    ),
    gauge(
      'outhook_table_vacuum_age_seconds',
      'Time since the last vacuum of the table; no sample if there was none.',
      tables.flatMap(({ table, vacuumed_at }) =>
        vacuumed_at === null ? [] : [{ labels: [['table', table]], value: since(now, vacuumed_at) }]
      ),
      'seconds',
    ),
    age(
      'outhook_oldest_snapshot',
      'How long the oldest transaction that delays vacuum has been open.',
      database.snapshot_s,
    ),
    single(
      'outhook_xmin_age_transactions',
      'The age, in transactions, of the oldest xmin of a session, slot or prepared transaction.',
      database.xmin_age,
    ),
  ]
}
