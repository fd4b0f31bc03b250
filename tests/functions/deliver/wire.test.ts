import { expect } from '@std/expect'
import type { LogFields } from '../../../functions/_shared/base/log.ts'
import { wireRun } from '../../../functions/deliver/wire.ts'
import { sampleDelivery } from '../samples.ts'
import { failure } from './harness.ts'

type Line = [level: string, message: string, fields?: LogFields | undefined]

Deno.test('wireRun() logs each attempt, and what follows one that failed, under fixed keys', async () => {
  const lines: Line[] = []
  const deps = wireRun({
    database: {
      dispatch: () => Promise.reject(new Error('not called')),
      close: () => Promise.resolve(),
    },
    transport: 'fetch',
    log: (...line) => void lines.push(line),
    routineLevel: 'debug',
    stop: new AbortController().signal,
    senders: new Map(),
  })
  const delivery = sampleDelivery({ attempt: 3, failed_attempts: 2 })
  const { event, endpoint, attempt } = delivery
  const key = { event, endpoint, attempt }
  deps.observe({ ...key, ...failure, response: 'secret', duration_ms: 42 }, delivery)
  deps.observe({ ...key, outcome: 'delivered', status: 204, duration_ms: 7 }, delivery)
  deps.observe({ ...key, outcome: 'released' }, delivery)
  deps.follow([{ ...key, delay_ms: 5000 }, { ...key, delay_ms: null }])
  await deps.transport.close()
  const tried = { ...key, failed_attempts: 2 }
  expect(lines).toEqual([
    ['info', 'attempt', {
      ...tried,
      outcome: 'failed',
      ms: 42,
      status: 500,
      error_class: 'status',
    }],
    ['debug', 'attempt', { ...tried, outcome: 'delivered', ms: 7, status: 204 }],
    ['debug', 'attempt', { ...tried, outcome: 'released' }],
    ['info', 'retry scheduled', { ...key, delay_ms: 5000 }],
    ['warn', 'dead letter', key],
  ])
})
