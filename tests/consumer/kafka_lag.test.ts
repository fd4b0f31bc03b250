import { expect } from '@std/expect'
import { createLag } from '../../consumer/kafka/lag.ts'
import { createMetrics } from '../../consumer/metrics.ts'

Deno.test('the lag of a Kafka partition grows while its message waits, and follows what is handled', async () => {
  const metrics = createMetrics('billing', 'orders')
  const lag = createLag('orders', metrics)
  const lags = (): string[] =>
    [...metrics.text('prometheus').matchAll(/partition="(\d+)"\} (\d+)$/gm)]
      .map(([, partition, messages]) => `${partition}: ${messages}`)
  const endAt = (high: string): Parameters<typeof lag.read>[0] => ({
    fetchTopicOffsets: () =>
      Promise.resolve([0, 1].map((partition) => ({ partition, offset: high, high, low: '0' }))),
  })
  // The first of three messages is not handled yet.
  lag.at(0, 10n, 13n)
  expect(lags()).toEqual(['0: 3'])
  await lag.read(endAt('40'))
  expect(lags()).toEqual(['0: 30'])
  // The batch still has its old end.
  lag.at(0, 11n, 13n)
  expect(lags()).toEqual(['0: 29'])
  lag.clear()
  await lag.read(endAt('50'))
  expect(lags()).toEqual([])
})
