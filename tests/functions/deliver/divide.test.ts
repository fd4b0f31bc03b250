import { expect } from '@std/expect'
import type { Renewal, Result } from '../../../functions/_shared/contract/contract.ts'
import { divide } from '../../../functions/deliver/divide.ts'

const fault = { kind: 'partial', code: '22P05', message: 'no such text', cause: undefined } as const

function delivered(n: number): Result {
  const key = { event: `event-${n}`, endpoint: 'endpoint-1', attempt: 2 }
  return { ...key, outcome: 'delivered', duration_ms: 7, status: 202, response: 'odd' }
}

const renewal: Renewal = { event: 'event-9', endpoint: 'endpoint-1', attempt: 1, outcome: 'renew' }

function divided(...results: (Result | Renewal)[]): { parts: Result[][]; lines: unknown[] } {
  const lines: unknown[] = []
  const parts = divide(results, fault, (level, message, fields) => {
    lines.push([level, message, fields])
  })
  return { parts, lines }
}

Deno.test('divide() makes two halves of what was refused, and leaves nothing out', () => {
  const results = [1, 2, 3, 4, 5].map(delivered)
  expect(divided(...results).parts).toEqual([results.slice(0, 3), results.slice(3)])
  expect(divided(delivered(1), delivered(2)).parts).toEqual([[delivered(1)], [delivered(2)]])
})

Deno.test('divide() drops lease renewals, because their lanes have been refused', () => {
  expect(divided(renewal, delivered(1), renewal, delivered(2)).parts)
    .toEqual([[delivered(1)], [delivered(2)]])
  expect(divided(renewal)).toEqual({ parts: [], lines: [] })
})

Deno.test('divide() reports a result that stands alone without the texts from outside, once', () => {
  const key = { event: 'event-1', endpoint: 'endpoint-1', attempt: 2 }
  const { parts, lines } = divided(delivered(1))
  const bare = { ...key, outcome: 'delivered', duration_ms: 7, status: 202, lossy: true }
  expect({ parts, lines }).toEqual({ parts: [[bare]], lines: [] })
  const line = { ...key, outcome: 'delivered', error: 'no such text' }
  expect(divided(...parts.flat()))
    .toEqual({ parts: [], lines: [['error', 'result not taken', line]] })
})

Deno.test('divide() keeps the class of a failure, which decides the retry', () => {
  const key = { event: 'event-1', endpoint: 'endpoint-1', attempt: 2 }
  const failed: Result = {
    ...key,
    outcome: 'failed',
    duration_ms: 7,
    status: 503,
    error_class: 'status',
    error: 'odd',
    response: 'odd',
    endpoint_version: 4,
  }
  expect(divided(failed).parts).toEqual([[{
    ...key,
    outcome: 'failed',
    duration_ms: 7,
    status: 503,
    error_class: 'status',
    error: 'The database refused to store the response of the endpoint',
    lossy: true,
    endpoint_version: 4,
  }]])
})

Deno.test('divide() logs and drops a result that the database refuses without texts', () => {
  const released: Result = {
    event: 'event-1',
    endpoint: 'endpoint-1',
    attempt: 2,
    outcome: 'released',
  }
  const { parts, lines } = divided(released)
  expect(parts).toEqual([])
  expect(lines).toHaveLength(1)
})
