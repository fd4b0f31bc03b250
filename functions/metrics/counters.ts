import type { Counted, MetricsResult } from './contract.ts'
import { operationalEvents } from '../_shared/base/operational_events.ts'
import { type Family, labelsOf } from './family.ts'

type CounterSpec = {
  /** Its name in the database. */
  metric: string
  name: string
  help: string
  labels: readonly string[]
  /**
   * Label values that exist from the start, at 0: Prometheus sees no increase in a series that starts
   * at 1.
   */
  zeros?: (kinds: readonly string[]) => string[][]
}

const ends = ['delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error', 'event_missing']
const reasons = ['retries_exhausted', 'leases_lost', 'not_retryable', 'expired']

function each(kinds: readonly string[], ...more: readonly string[][]): string[][] {
  return kinds.flatMap((kind) => more.length === 0 ? [[kind]] : more.map((m) => [kind, ...m]))
}

/** The labels of updates that belong to no channel: `unknown`, and those of another account or organisation. */
function misdirected(unknown: string): string[][] {
  return [unknown, 'wrong_account', 'org_mismatch'].map((reason) => ['skipped', reason])
}

const specs: readonly CounterSpec[] = [
  {
    metric: 'attempts',
    name: 'outhook_attempts',
    help: 'Ended attempts, by outcome. code is the class of the response: 2xx, 429, 5xx.',
    labels: ['kind', 'outcome', 'error_class', 'code'],
    zeros: (kinds) => each(kinds, ['failed', 'lease_expired', '']),
  },
  {
    metric: 'retries',
    name: 'outhook_retries',
    help: 'Failed attempts after which a retry was scheduled.',
    labels: ['kind', 'error_class'],
  },
  {
    metric: 'created',
    name: 'outhook_deliveries_created',
    help: 'Deliveries that routing created: one for each event and subscribed endpoint.',
    labels: [],
    zeros: () => [[]],
  },
  {
    metric: 'deliveries',
    name: 'outhook_deliveries_ended',
    help: 'Ended deliveries, by outcome.',
    labels: ['kind', 'outcome'],
    zeros: (kinds) => each(kinds, ...ends.map((end) => [end])),
  },
  {
    metric: 'dead_letters',
    name: 'outhook_dead_letters',
    help: 'Deliveries that became dead letters, by reason.',
    labels: ['kind', 'reason'],
    zeros: (kinds) => each(kinds, ...reasons.map((reason) => [reason])),
  },
  {
    metric: 'stale_results',
    name: 'outhook_stale_results',
    help: 'Results that arrived after the lease of their delivery had ended. They change nothing.',
    labels: [],
    zeros: () => [[]],
  },
  {
    metric: 'resends',
    name: 'outhook_resends',
    help: 'Requests that were sent a second time, because the first connection was already closed.',
    labels: ['kind'],
    zeros: (kinds) => each(kinds),
  },
  {
    metric: 'breaker_opens',
    name: 'outhook_breaker_opens',
    help: 'How often the breaker of an endpoint opened.',
    labels: ['kind'],
    zeros: (kinds) => each(kinds),
  },
  {
    metric: 'events',
    name: 'outhook_events',
    help:
      'Published events, by the outcome of routing. They are routed within a second of the commit.',
    labels: ['outcome'],
    zeros: () => [['routed'], ['no_subscriber'], ['set_aside']],
  },
  {
    metric: 'operational_events',
    name: 'outhook_operational_events',
    help: 'Operational events that Outhook published, by type.',
    labels: ['type'],
    zeros: () => operationalEvents.map(({ type }) => [type]),
  },
  {
    metric: 'runs',
    name: 'outhook_runs',
    help: 'First calls of runs, by whether the run may continue.',
    labels: ['kind', 'result'],
  },
  {
    metric: 'messages',
    name: 'outhook_messages',
    help: 'Messages that reached a status. error_code is that of a failed message.',
    labels: ['status', 'error_code'],
  },
  {
    metric: 'messages_blocked',
    name: 'outhook_messages_blocked',
    help: 'Messages that a policy blocked, such as missing consent.',
    labels: ['reason'],
    zeros: () => [['consent_required'], ['consent_revoked'], ['opted_out'], ['outside_window']],
  },
  {
    metric: 'callbacks',
    name: 'outhook_whatsapp_updates',
    help: 'Updates in the callbacks of WhatsApp, by their status. reason says why one is skipped.',
    labels: ['kind', 'status', 'reason'],
    zeros: () => [
      ...each(['status', 'message', 'preference'], ...misdirected('unknown_number')),
      ...each(['template', 'account', 'quality'], ...misdirected('unknown_account')),
    ],
  },
  {
    metric: 'callback_responses',
    name: 'outhook_whatsapp_callbacks',
    help: 'Callbacks of WhatsApp, by the status of the response.',
    labels: ['status'],
    zeros: () => [['200'], ['400'], ['401'], ['413'], ['503']],
  },
  {
    metric: 'requests',
    name: 'outhook_api_requests',
    help: 'Requests to the HTTP API that its processes have reported.',
    labels: ['method', 'route', 'status'],
  },
  {
    metric: 'endpoint_attempts',
    name: 'outhook_endpoint_attempts',
    help: 'Attempts by endpoint, counted while the setting metrics.per_endpoint is on.',
    labels: ['endpoint', 'outcome', 'error_class'],
  },
]

export function counterFamilies(result: MetricsResult): Family[] {
  const kinds = kindsOf(result)
  return [
    ...specs.map((spec) => familyOf(spec, result.counters, kinds)),
    ...otherFamilies(result.counters),
    leases(result.counters, kinds),
    sent(result.counters, kinds),
    {
      name: 'outhook_kicks',
      type: 'counter',
      help: 'Kicks: calls that start a run, at a commit or by the tick.',
      samples: Object.entries(result.engine.kicks)
        .map(([reason, value]) => ({ labels: [['reason', reason]], value })),
    },
  ]
}

/** The kinds of existing endpoints. */
export function kindsOf({ queue }: MetricsResult): string[] {
  return [...new Set(queue.endpoints.map(({ kind }) => kind))]
}

function familyOf(spec: CounterSpec, counters: readonly Counted[], kinds: string[]): Family {
  const values = new Map<string, [labels: string[], value: number]>()
  for (const labels of spec.zeros?.(kinds) ?? []) values.set(labels.join('\n'), [labels, 0])
  for (const [metric, labels, n] of counters) {
    if (metric === spec.metric) values.set(labels.join('\n'), [labels, n])
  }
  return {
    name: spec.name,
    type: 'counter',
    help: spec.help,
    samples: [...values.values()]
      .map(([labels, value]) => ({ labels: labelsOf(spec.labels, labels), value })),
  }
}

/** Counters of modules that have no row here. Names of histograms end with `_ms`. */
function otherFamilies(counters: readonly Counted[]): Family[] {
  const listed = new Set(specs.map(({ metric }) => metric))
  const widths = new Map<string, number>()
  for (const [metric, labels] of counters) {
    if (listed.has(metric) || metric.endsWith('_ms')) continue
    widths.set(metric, Math.max(widths.get(metric) ?? 0, labels.length))
  }
  return [...widths].map(([metric, width]) =>
    familyOf(
      {
        metric,
        name: `outhook_${metric}`,
        help: 'Counted by a module.',
        labels: Array.from({ length: width }, (_, index) => `label_${index + 1}`),
      },
      counters,
      [],
    )
  )
}

function leases(counters: readonly Counted[], kinds: string[]): Family {
  const sums = new Map(kinds.map((kind) => [kind, 0]))
  for (const [metric, [kind = '', , errorClass], n] of counters) {
    if (metric === 'attempts' && errorClass === 'lease_expired') {
      sums.set(kind, (sums.get(kind) ?? 0) + n)
    }
  }
  return {
    name: 'outhook_leases_expired',
    type: 'counter',
    help: 'Deliveries without a result: their run died, or took longer than the lease.',
    samples: [...sums].map(([kind, value]) => ({ labels: [['kind', kind]], value })),
  }
}

function sent(counters: readonly Counted[], kinds: string[]): Family {
  const sums = new Map(kinds.map((kind) => [kind, 0]))
  for (const [metric, [kind = ''], , bytes] of counters) {
    if (metric === 'attempts') sums.set(kind, (sums.get(kind) ?? 0) + bytes)
  }
  return {
    name: 'outhook_sent_bytes',
    type: 'counter',
    unit: 'bytes',
    help: 'Payloads of all attempts, repeats included, without headers.',
    samples: [...sums].map(([kind, value]) => ({ labels: [['kind', kind]], value })),
  }
}
