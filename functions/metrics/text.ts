import type { Family, Labels, Sample } from './family.ts'

/** The two formats that Prometheus and its relatives read. */
export type Format = 'prometheus' | 'openmetrics'

export const contentTypes: Record<Format, string> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
}

/** Writes families as text; one without samples is left out. */
export function writeText(families: readonly Family[], format: Format): string {
  const written = families
    .filter(({ samples }) => samples.length > 0)
    .map((family) => writeFamily(family, format))
  return written.join('') + (format === 'openmetrics' ? '# EOF\n' : '')
}

/** In the older format a counter's own name ends with `_total`, in OpenMetrics its samples' do. */
function writeFamily({ name, type, unit, help, samples }: Family, format: Format): string {
  const counter = type === 'counter' ? '_total' : ''
  const head = format === 'prometheus' ? name + counter : name
  const lines = [`# HELP ${head} ${escaped(help, format)}`, `# TYPE ${head} ${type}`]
  if (unit !== undefined && format === 'openmetrics') lines.push(`# UNIT ${head} ${unit}`)
  const rows = samples.map((sample) => writeSample(name + counter, sample))
  return [...lines, ...rows, ''].join('\n')
}

function writeSample(name: string, { suffix = '', labels, value }: Sample): string {
  return `${name}${suffix}${writeLabels(labels)} ${value}`
}

function writeLabels(labels: Labels): string {
  if (labels.length === 0) return ''
  const pairs = labels.map(([name, value]) => `${name}="${escaped(value, 'openmetrics')}"`)
  return `{${pairs.join(',')}}`
}

/** A help text of the older format keeps its quotes as they are. */
function escaped(text: string, format: Format): string {
  const plain = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  return format === 'openmetrics' ? plain.replaceAll('"', '\\"') : plain
}
