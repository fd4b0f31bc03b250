import type { MetricsResult } from './contract.ts'
import { type Family, labelsOf } from './family.ts'
import { gauge } from './gauge.ts'

type Measured = MetricsResult['gauges'][number]

type GaugeSpec = { name: string; help: string; labels: readonly string[]; unit?: 'bytes' }

/** Those of modules and of the limits of the database, by the name there. */
const known: Readonly<Record<string, GaugeSpec>> = {
  templates_held: {
    name: 'outhook_templates_held',
    help: 'Templates that WhatsApp has paused, disabled or rejected: their messages wait.',
    labels: [],
  },
  modules_unreadable: {
    name: 'outhook_modules_unreadable',
    help: 'Whether the metrics of modules cannot be read; the log of the database has the error.',
    labels: [],
  },
  limits_unreadable: {
    name: 'outhook_limits_unreadable',
    help:
      'Whether the limits of the database cannot be read; the log of the database has the error.',
    labels: [],
  },
  database_bytes: {
    name: 'outhook_database_bytes',
    help: 'The size of all databases of the server, without the write-ahead log.',
    labels: [],
    unit: 'bytes',
  },
  wal_bytes: {
    name: 'outhook_wal_bytes',
    help: 'The size of the files of the write-ahead log.',
    labels: [],
    unit: 'bytes',
  },
  slot_wal_bytes: {
    name: 'outhook_slot_wal_bytes',
    help: 'How much of the write-ahead log a replication slot keeps at most; 0 without slots.',
    labels: [],
    unit: 'bytes',
  },
  disk_bytes: {
    name: 'outhook_disk_bytes',
    help: 'The size of the disk: the setting database.disk_mib; no sample if it is 0.',
    labels: [],
    unit: 'bytes',
  },
  transaction_id_age: {
    name: 'outhook_transaction_id_age',
    help: 'How many of about 2,147 million transaction ids are younger than the oldest row.',
    labels: [],
  },
  connections: {
    name: 'outhook_connections',
    help: 'Open connections to the server.',
    labels: [],
  },
  connections_max: {
    name: 'outhook_connections_max',
    help: 'How many connections roles without special rights may open.',
    labels: [],
  },
  net_requests: {
    name: 'outhook_net_requests',
    help: 'Requests in the queue of pg_net, those of the application included.',
    labels: [],
  },
  sent_month_bytes: {
    name: 'outhook_sent_month_bytes',
    help: 'Payloads of the attempts of this month (UTC), repeats included, without headers.',
    labels: [],
    unit: 'bytes',
  },
  traffic_bytes: {
    name: 'outhook_traffic_bytes',
    help: 'What may be sent in a month: the setting traffic.mib_per_month; no sample if it is 0.',
    labels: [],
    unit: 'bytes',
  },
}

/** The gauges of modules. One that has no row here is shown under its name. */
export function moduleGauges(measured: readonly Measured[]): Family[] {
  const metrics = Map.groupBy(measured, ([metric]) => metric)
  return [...metrics].map(([metric, all]) => {
    const width = Math.max(...all.map(([, labels]) => labels.length))
    const { name, help, labels, unit }: GaugeSpec = known[metric] ?? {
      name: `outhook_${metric}`,
      help: 'Measured by a module.',
      labels: Array.from({ length: width }, (_, index) => `label_${index + 1}`),
    }
    return gauge(
      name,
      help,
      all.map(([, values, value]) => ({ labels: labelsOf(labels, values), value })),
      unit,
    )
  })
}
