import type { Counted, MetricsResult } from './contract.ts'
import { kindsOf } from './counters.ts'
import { type Family, labelsOf, type Sample } from './family.ts'

type HistogramSpec = {
  metric: string
  name: string
  help: string
  labels: readonly string[]
  /** Upper bounds in milliseconds. */
  bounds: readonly number[]
  zeros: string[][]
}

/** All histograms as families, in seconds. */
export function histogramFamilies(result: MetricsResult): Family[] {
  const { attempt_ms, latency_ms } = result.bounds
  const kinds = kindsOf(result)
  const specs: readonly HistogramSpec[] = [
    {
      metric: 'attempt_ms',
      name: 'outhook_attempt_duration_seconds',
      help: 'The duration of attempts, from the DNS look-up to the end of the response.',
      labels: ['kind', 'outcome'],
      bounds: attempt_ms,
      zeros: kinds.flatMap((kind) => [[kind, 'delivered'], [kind, 'failed']]),
    },
    {
      metric: 'latency_ms',
      name: 'outhook_delivery_latency_seconds',
      help: 'The time from publishing, or deliver_at, to the delivery. It includes retries. ' +
        'Replays are not counted.',
      labels: ['kind'],
      bounds: latency_ms,
      zeros: kinds.map((kind) => [kind]),
    },
    {
      metric: 'request_ms',
      name: 'outhook_api_request_duration_seconds',
      help: 'The duration of requests to the HTTP API.',
      labels: ['method'],
      bounds: attempt_ms,
      zeros: [],
    },
  ]
  return specs.map((spec) => familyOf(spec, result.counters))
}

type Series = { labels: string[]; buckets: number[]; ms: number }

function familyOf(spec: HistogramSpec, counters: readonly Counted[]): Family {
  const all = new Map<string, Series>()
  function seriesOf(labels: string[]): Series {
    const key = labels.join('\n')
    const series = all.get(key) ??
      { labels, buckets: Array<number>(spec.bounds.length + 1).fill(0), ms: 0 }
    all.set(key, series)
    return series
  }
  for (const labels of spec.zeros) seriesOf(labels)
  for (const [metric, labels, n, total] of counters) {
    if (metric !== spec.metric) continue
    const series = seriesOf(labels.slice(0, -1))
    const place = Math.min(Number(labels.at(-1)), series.buckets.length) - 1
    series.buckets[place] = (series.buckets[place] ?? 0) + n
    series.ms += total
  }
  return {
    name: spec.name,
    type: 'histogram',
    unit: 'seconds',
    help: spec.help,
    samples: [...all.values()].flatMap((series) => samplesOf(spec, series)),
  }
}

function samplesOf({ bounds, labels: names }: HistogramSpec, series: Series): Sample[] {
  const labels = labelsOf(names, series.labels)
  let count = 0
  const buckets = series.buckets.map((n, index): Sample => {
    count += n
    const bound = bounds[index]
    const le = bound === undefined ? '+Inf' : boundText(bound)
    return { suffix: '_bucket', labels: [...labels, ['le', le]], value: count }
  })
  return [
    ...buckets,
    { suffix: '_sum', labels, value: series.ms / 1000 },
    { suffix: '_count', labels, value: count },
  ]
}

/** A float as OpenMetrics requires it; both formats use it. */
function boundText(ms: number): string {
  const text = String(ms / 1000)
  return text.includes('.') ? text : `${text}.0`
}
