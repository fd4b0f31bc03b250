import type { MetricsResult } from './contract.ts'
import { type Family, labelsOf } from './family.ts'
import { gauge } from './gauge.ts'

type Measured = MetricsResult['gauges'][number]

type GaugeSpec = { name: string; help: string; labels: readonly string[] }

/** By the name in the database. */
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
}

/** The gauges of modules. One that has no row here is shown under its name. */
export function moduleGauges(measured: readonly Measured[]): Family[] {
  const metrics = Map.groupBy(measured, ([metric]) => metric)
  return [...metrics].map(([metric, all]) => {
    const width = Math.max(...all.map(([, labels]) => labels.length))
    const { name, help, labels } = known[metric] ?? {
      name: `outhook_${metric}`,
      help: 'Measured by a module.',
      labels: Array.from({ length: width }, (_, index) => `label_${index + 1}`),
    }
    return gauge(
      name,
      help,
      all.map(([, values, value]) => ({ labels: labelsOf(labels, values), value })),
    )
  })
}
