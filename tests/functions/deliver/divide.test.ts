import { expect } from '@std/expect'
import type { Renewal, Result } from '../../../functions/_shared/contract/contract.ts'
import { divide, type Part } from '../../../functions/deliver/divide.ts'

const fault = { kind: 'partial', code: '22P05', message: 'no such text', cause: undefined } as const
const timeout = { kind: 'temporary', code: '57014', message: 'too slow', cause: undefined } as const

function delivered(n: number): Result {
  const key = { event: `event-${n}`, endpoint: 'endpoint-1', attempt: 2 }
  return { ...key, outcome: 'delivered', duration_ms: 7, status: 202, response: 'odd' }
}

const renewal: Renewal = { event: 'event-9', endpoint: 'endpoint-1', attempt: 1, outcome: 'renew' }

function divided(...results: (Result | Renewal)[]): { parts: Part[]; lines: unknown[] } {
  return dividedAfter(fault, results)
}

function dividedAfter(
  error: typeof fault | typeof timeout,
  results: (Result | Renewal)[],
  refusedWith?: string,
): { parts: Part[]; lines: unknown[] } {
  const lines: unknown[] = []
  const parts = divide(results, error, (level, message, fields) => {
    lines.push([level, message, fields])
  }, refusedWith)
  return { parts, lines }
}

Deno.test('divide() makes two halves of what was refused, and leaves nothing out', () => {
  const results = [1, 2, 3, 4, 5].map(delivered)
  expect(divided(...results).parts).toEqual([
    { results: results.slice(0, 3) },
    { results: results.slice(3) },
  ])
  expect(divided(delivered(1), delivered(2)).parts)
    .toEqual([{ results: [delivered(1)] }, { results: [delivered(2)] }])
})

Deno.test('divide() drops lease renewals, because their lanes have been refused', () => {
  expect(divided(renewal, delivered(1), renewal, delivered(2)).parts)
    .toEqual([{ results: [delivered(1)] }, { results: [delivered(2)] }])
  expect(divided(renewal)).toEqual({ parts: [], lines: [] })
})

Deno.test('divide() reports a result that stands alone without the texts from outside, then only that it is refused', () => {
  const key = { event: 'event-1', endpoint: 'endpoint-1', attempt: 2 }
  const bare: Result = { ...key, outcome: 'delivered', duration_ms: 7, status: 202, lossy: true }
  const first = divided(delivered(1))
  expect(first).toEqual({ parts: [{ results: [bare] }], lines: [] })
  const refusedWith = '22P05 no such text'
  expect(divided(...first.parts.flatMap(({ results }) => results)))
    .toEqual({ parts: [{ results: [bare], refusedWith }], lines: [] })
  const line = { ...key, outcome: 'delivered', error: 'no such text' }
  expect(dividedAfter(fault, [bare], refusedWith))
    .toEqual({ parts: [], lines: [['error', 'result not taken', line]] })
})

Deno.test('divide() keeps the texts of a result that takes too long, which they do not cause', () => {
  expect(dividedAfter(timeout, [delivered(1)])).toEqual({
    parts: [{ results: [delivered(1)], refusedWith: '57014 too slow' }],
    lines: [],
  })
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
  }
  expect(divided(failed).parts).toEqual([{
    results: [{
      ...key,
      outcome: 'failed',
      duration_ms: 7,
      status: 503,
      error_class: 'status',
      error: 'The database refused to store the response of the endpoint',
      lossy: true,
    }],
  }])
})

Deno.test('divide() logs and drops a released delivery that cannot even be refused', () => {
  const released: Result = {
    event: 'event-1',
    endpoint: 'endpoint-1',
    attempt: 2,
    outcome: 'released',
  }
  const { parts, lines } = dividedAfter(fault, [released], '22P05 no such text')
  expect(parts).toEqual([])
  expect(lines).toHaveLength(1)
})
