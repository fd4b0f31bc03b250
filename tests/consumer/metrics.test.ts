import { expect } from '@std/expect'
import { createMetrics, serveMetrics } from '../../consumer/metrics.ts'

Deno.test('the metrics of a consumer count its messages, those that came again, and its lag', () => {
  const metrics = createMetrics('billing', 'orders')
  metrics.processed('done', false)
  metrics.processed('done', true)
  metrics.processed('known', false)
  metrics.processed('dead', false)
  metrics.processed('stopped', true)
  metrics.lag('1', 7)
  metrics.lag('0', 3)
  metrics.lag('0', -1)
  const lines = metrics.text('prometheus').split('\n').filter((line) => !line.startsWith('#'))
  expect(lines).toEqual([
    'outhook_consumer_messages_total{consumer="billing",topic="orders",result="done"} 2',
    'outhook_consumer_messages_total{consumer="billing",topic="orders",result="known"} 1',
    'outhook_consumer_messages_total{consumer="billing",topic="orders",result="dead"} 1',
    'outhook_consumer_redelivered_total{consumer="billing",topic="orders"} 2',
    'outhook_consumer_lag{consumer="billing",topic="orders",partition="0"} 0',
    'outhook_consumer_lag{consumer="billing",topic="orders",partition="1"} 7',
    '',
  ])
})

Deno.test('a consumer serves its metrics at /metrics until it stops', async () => {
  const stop = new AbortController()
  const metrics = createMetrics('billing', 'orders')
  metrics.lag('', 5)
  const url = `http://127.0.0.1:${
    serveMetrics(metrics, { hostname: '127.0.0.1', port: 0 }, stop.signal)
  }`
  const plain = await fetch(`${url}/metrics`)
  expect(plain.headers.get('content-type')).toContain('text/plain; version=0.0.4')
  expect(await plain.text()).toContain(
    'outhook_consumer_lag{consumer="billing",topic="orders"} 5\n',
  )
  const open = await fetch(`${url}/metrics`, {
    headers: { accept: 'application/openmetrics-text' },
  })
  expect(await open.text()).toMatch(/# EOF\n$/)
  const other = await fetch(url)
  expect(other.status).toBe(404)
  await other.body?.cancel()
  stop.abort()
})
