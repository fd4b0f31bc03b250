/** Metrics, alerts and dashboard through an incident, as a real Prometheus sees it. */

import { expect } from '@std/expect'
import { patienceMs } from '../_support/outhook.ts'
import { runTool } from '../_support/prometheus.ts'
import { findPrometheus } from '../_support/prometheus_binaries.ts'
import { fillIn, readPanels } from './incident/dashboard.ts'
import { type Incident, playIncident } from './incident/incident.ts'

let incident: Incident

Deno.test.beforeAll(async () => {
  incident = await playIncident({
    calm: 5,
    faults: 8,
    awaits: [],
    scrape: 1,
    pace: 3,
    drain: false,
  })
})
Deno.test.afterAll(async () => {
  await incident?.stop()
})

async function scrape(accept: string): Promise<string> {
  const { stack } = incident.whatsapp.outhook
  const response = await fetch(`${stack.apiUrl}/functions/v1/metrics`, {
    headers: { authorization: `Bearer ${stack.keys.metricsToken}`, accept },
    signal: AbortSignal.timeout(patienceMs),
  })
  expect(response.status).toBe(200)
  return await response.text()
}

Deno.test('promtool has nothing to say against the metrics', async () => {
  const { promtool } = await findPrometheus()
  const text = await scrape('text/plain')
  expect(await runTool(promtool, ['check', 'metrics'], text)).toEqual({ success: true, text: '' })
})

Deno.test('Prometheus scrapes OpenMetrics, and all that it scrapes is taken', async () => {
  expect(await scrape('application/openmetrics-text; version=1.0.0')).toMatch(/# EOF\n$/)
  // While the database is away there is nothing to show, and a busy machine is late now and then.
  const [up] = await incident.prometheus.query('avg_over_time(up[5m])')
  expect(up?.values[0]?.[1]).toBeGreaterThan(0.5)
  const [samples] = await incident.prometheus.query('scrape_samples_scraped')
  expect(samples?.values[0]?.[1]).toBeGreaterThan(150)
})

Deno.test('every query of the dashboard returns data', async () => {
  const { prometheus, began } = incident
  const now = Date.now() / 1000
  const empty: string[] = []
  for (const { title, targets } of await readPanels()) {
    for (const { expr } of targets) {
      const query = fillIn(expr, 5, Math.ceil(now - began))
      const series = await prometheus.range(query, began, now, 1)
      const values = series.flatMap((one) => one.values).filter(([, value]) => !isNaN(value))
      if (values.length === 0) empty.push(`${title}: ${expr}`)
    }
  }
  expect(empty).toEqual([])
})

Deno.test('the metrics tell what broke', async () => {
  const { prometheus, began, endpoints } = incident
  const now = Date.now() / 1000
  async function highest(expression: string): Promise<number> {
    const series = await prometheus.range(expression, began, now, 1)
    return Math.max(0, ...series.flatMap(({ values }) => values.map(([, value]) => value)))
  }
  const failures = 'outhook_endpoint_consecutive_failures'
  expect(await highest(`${failures}{endpoint="${endpoints.failing.id}"}`)).toBeGreaterThan(4)
  expect(await highest(`${failures}{endpoint="${endpoints.hanging.id}"}`)).toBeGreaterThan(1)
  expect(await highest('outhook_endpoints{kind="whatsapp",status="held"}')).toBe(1)
  expect(await highest('outhook_endpoints{kind="webhook",status=~"breaker_.*"}')).toBeGreaterThan(0)
  expect(await highest('outhook_attempts_total{outcome="failed",code="5xx"}')).toBeGreaterThan(4)
  expect(await highest('outhook_attempts_total{error_class="timeout"}')).toBeGreaterThan(0)
  expect(await highest('outhook_messages_total{status="read"}')).toBeGreaterThan(0)
})

Deno.test('no counter went back, though the database died', async () => {
  const { prometheus, began } = incident
  const seconds = Math.ceil(Date.now() / 1000 - began)
  const counters = await prometheus.query('count by (__name__) ({__name__=~"outhook_.*_total"})')
  const names = counters.map(({ metric }) => metric.__name__ ?? '')
  expect(names.length).toBeGreaterThan(10)
  const back = await Promise.all(
    names.map((name) => prometheus.query(`resets(${name}[${seconds}s]) > 0`)),
  )
  expect(names.filter((_, index) => back[index]?.length !== 0)).toEqual([])
})

Deno.test('the console names the cause', () => {
  const { console, endpoints } = incident
  expect(console['03_who_is_failing']).toContain(endpoints.failing.id)
  expect(console['02_what_is_stuck']).toContain('held: 190')
})
