import type { Family, Labels, Sample } from './family.ts'

/** The two formats that Prometheus and compatible systems read. */
export type Format = 'prometheus' | 'openmetrics'

export const contentTypes: Record<Format, string> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
}

/** Writes families as text, without those that have no samples. */
export function writeText(families: readonly Family[], format: Format): string {
  const written = families
    .filter(({ samples }) => samples.length > 0)
    .map((family) => writeFamily(family, format))
  return written.join('') + (format === 'openmetrics' ? '# EOF\n' : '')
}

/** In the older format a counter's name ends with `_total`; in OpenMetrics only its samples' names do. */
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

/** The older format does not escape quotes in help texts. */
function escaped(text: string, format: Format): string {
  const plain = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  return format === 'openmetrics' ? plain.replaceAll('"', '\\"') : plain
}
