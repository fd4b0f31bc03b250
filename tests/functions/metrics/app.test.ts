import { expect } from '@std/expect'
import { createApp } from '../../../functions/metrics/app.ts'
import type { FunctionReply } from '../../../functions/_shared/database/functions.ts'
import type { MetricsResult } from '../../../functions/metrics/contract.ts'
import { metricsReader } from '../../../functions/metrics/database.ts'
import { someAnswer } from './_answer.ts'

const token = 't'.repeat(32)
const openMetrics =
  'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'

type Call = { tokens?: string[]; headers?: Record<string, string>; result?: () => MetricsResult }

async function get(
  { tokens = [token], headers = {}, result = someAnswer }: Call = {},
): Promise<{ status: number; type: string | null; lines: string[]; log: string[] }> {
  const log: string[] = []
  const app = createApp({
    tokens,
    readMetrics: () => Promise.resolve().then(result),
    log: (_level, message, fields) => log.push(`${message} ${JSON.stringify(fields)}`),
  })
  const response = await app.request('/metrics', {
    headers: { authorization: `Bearer ${token}`, ...headers },
  })
  const text = await response.text()
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    lines: text.split('\n'),
    log,
  }
}

Deno.test('GET /metrics responds in the format of Prometheus', async () => {
  const { status, type, lines } = await get()
  expect({ status, type })
    .toEqual({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8' })
  expect(lines).toEqual(expect.arrayContaining([
    '# TYPE outhook_attempts_total counter',
    'outhook_attempts_total{kind="webhook",outcome="delivered",error_class="",code="2xx"} 7',
    'outhook_leases_expired_total{kind="webhook"} 2',
    'outhook_sent_bytes_total{kind="webhook"} 900',
    'outhook_connections 12',
    'outhook_disk_bytes 8589934592',
    'outhook_attempt_duration_seconds_bucket{kind="webhook",outcome="delivered",le="0.005"} 4',
    'outhook_attempt_duration_seconds_bucket{kind="webhook",outcome="delivered",le="1.0"} 4',
    'outhook_attempt_duration_seconds_bucket{kind="webhook",outcome="delivered",le="30.0"} 6',
    'outhook_attempt_duration_seconds_bucket{kind="webhook",outcome="delivered",le="+Inf"} 7',
    'outhook_attempt_duration_seconds_sum{kind="webhook",outcome="delivered"} 42.51',
    'outhook_attempt_duration_seconds_count{kind="webhook",outcome="delivered"} 7',
    'outhook_delivery_latency_seconds_bucket{kind="webhook",le="+Inf"} 6',
    'outhook_delivery_latency_seconds_sum{kind="webhook"} 1.5',
    'outhook_delivery_latency_seconds_count{kind="webhook"} 6',
    'outhook_dead_letters_total{kind="webhook",reason="not_retryable"} 3',
    'outhook_deliveries_open{kind="webhook",status="paused"} 5',
    'outhook_deliveries_open{kind="webhook",status="halted"} 2',
    'outhook_oldest_due_age_seconds 60',
    'outhook_tick_age_seconds 1',
    'outhook_endpoint_failing_seconds{endpoint="e-1",org="org-1",kind="webhook"} 100',
    'outhook_partitions_ahead_seconds{table="event"} 604800',
    'outhook_kicks_total{reason="commit"} 4',
    'outhook_api_requests_total{method="POST",route="/api/v1/events",status="202"} 5',
  ]))
  expect(lines.filter((line) => /^outhook_(endpoints|.*in_flight){.*halted/.test(line))).toEqual([])
})

Deno.test('a series that has not happened yet is there, at 0', async () => {
  const { lines } = await get()
  expect(lines).toEqual(expect.arrayContaining([
    'outhook_dead_letters_total{kind="webhook",reason="retries_exhausted"} 0',
    'outhook_deliveries_ended_total{kind="webhook",outcome="cancelled"} 0',
    'outhook_resends_total{kind="webhook"} 0',
    'outhook_breaker_opens_total{kind="webhook"} 0',
    'outhook_stale_results_total 0',
    'outhook_whatsapp_callbacks_total{status="401"} 0',
    'outhook_whatsapp_callbacks_total{status="413"} 0',
    'outhook_whatsapp_updates_total{kind="message",status="skipped",reason="unknown_number"} 0',
    'outhook_whatsapp_updates_total{kind="template",status="skipped",reason="org_mismatch"} 0',
    'outhook_runs_alive{kind="worker"} 0',
  ]))
  expect(lines.filter((line) => line.startsWith('outhook_kick_age_seconds'))).toEqual([])
})

Deno.test('a counter that has no row of its own is shown under its name', async () => {
  const result = someAnswer()
  result.counters.push(['pigeons', ['north', 'lost'], 3, 0], ['pigeons', ['south'], 1, 0])
  result.counters.push(['pigeon_ms', ['north', '2'], 5, 60])
  const { lines } = await get({ result: () => result })
  expect(lines.filter((line) => line.includes('pigeon'))).toEqual([
    '# HELP outhook_pigeons_total Counted by a module.',
    '# TYPE outhook_pigeons_total counter',
    'outhook_pigeons_total{label_1="north",label_2="lost"} 3',
    'outhook_pigeons_total{label_1="south",label_2=""} 1',
  ])
})

Deno.test('a gauge of a module is shown, under its name if it has no row of its own', async () => {
  const result = someAnswer()
  result.gauges.push(['nests', ['north'], 3], ['nests', ['south'], 0])
  const { lines } = await get({ result: () => result })
  expect(lines.filter((line) => /nests|templates_held/.test(line))).toEqual([
    '# HELP outhook_templates_held Templates that WhatsApp has paused, disabled or rejected: ' +
    'their messages wait.',
    '# TYPE outhook_templates_held gauge',
    'outhook_templates_held 2',
    '# HELP outhook_nests Measured by a module.',
    '# TYPE outhook_nests gauge',
    'outhook_nests{label_1="north"} 3',
    'outhook_nests{label_1="south"} 0',
  ])
})

Deno.test('GET /metrics responds without the gauges of modules if the database has none', async () => {
  const readMetrics = metricsReader(() => {
    const { gauges: _, ...older } = someAnswer()
    return Promise.resolve({ ok: true, data: older })
  })
  expect((await readMetrics()).gauges).toEqual([])
})

Deno.test('a label keeps quotes, backslashes and line breaks', async () => {
  const { lines } = await get()
  expect(lines).toContain(
    'outhook_endpoint_attempts_total{endpoint="e-1",outcome="failed",' +
      'error_class="time\\"out\\\\\\n"} 1',
  )
})

Deno.test('GET /metrics responds in OpenMetrics if the client prefers it', async () => {
  const { type, lines } = await get({ headers: { accept: openMetrics } })
  expect(type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
  expect(lines.slice(-2)).toEqual(['# EOF', ''])
  expect(lines).toEqual(expect.arrayContaining([
    '# TYPE outhook_attempts counter',
    'outhook_attempts_total{kind="webhook",outcome="delivered",error_class="",code="2xx"} 7',
    '# UNIT outhook_attempt_duration_seconds seconds',
    '# UNIT outhook_disk_bytes bytes',
    '# UNIT outhook_sent_bytes bytes',
  ]))
})

Deno.test('GET /metrics responds 401 without an accepted token', async () => {
  for (const authorization of ['', token, `Basic ${token}`, `Bearer ${token}x`, 'Bearer ']) {
    expect(await get({ headers: { authorization } })).toMatchObject({ status: 401 })
  }
  const rotating = { tokens: ['n'.repeat(32), token] }
  expect(await get(rotating)).toMatchObject({ status: 200 })
})

Deno.test('GET /metrics responds 503 without a configured token', async () => {
  const { status, lines } = await get({ tokens: [] })
  expect(status).toBe(503)
  expect(lines[0]).toContain('OUTHOOK_METRICS_TOKEN')
})

Deno.test('GET /metrics responds 503 if the database does not, with the reason only in the log', async () => {
  const { status, lines, log } = await get({
    result: () => {
      throw new Error('connection refused')
    },
  })
  expect(status).toBe(503)
  expect(lines[0]).not.toContain('refused')
  expect(log).toEqual(['metrics failed {"error":"connection refused"}'])
})

Deno.test('GET /metrics responds 503 with the remedy if the database has another version', async () => {
  const advice = 'push the migrations and deploy the functions of the same version'
  const error = { code: 'PGRST202', message: 'no function', details: null, hint: null }
  const replies: FunctionReply[] = [
    { ok: false, status: 404, error },
    { ok: true, data: { version: '9' } },
  ]
  for (const reply of replies) {
    const readMetrics = metricsReader(() => Promise.resolve(reply))
    const log: string[] = []
    const app = createApp({
      tokens: [token],
      readMetrics,
      log: (_level, message, fields) => log.push(`${message} ${JSON.stringify(fields)}`),
    })
    const response = await app.request('/metrics', {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(await response.json()).toMatchObject({
      status: 503,
      code: 'contract_mismatch',
      detail: expect.stringContaining(advice),
    })
    expect(log).toEqual([expect.stringContaining(advice)])
  }
})
