/** What the timeline of a delivery shows: replays, and requests as far as they are certain. */

import { expect } from '@std/expect'
import { rebuildRequest, sentAt } from '../../console/page/events/rebuilt_request.ts'
import { timelineRows } from '../../console/page/events/timeline_rows.ts'
import { errorClasses } from '../../functions/_shared/contract/contract.ts'
import { headerValue, webhookHeaders } from '../../functions/_shared/signing/headers.ts'
import { bodyOf } from '../../functions/_shared/senders/body.ts'

const attempt = {
  attempt: 1,
  kind: 'attempt' as const,
  outcome: 'failed',
  at: '2026-03-01T12:00:01.000Z',
  status: 500,
  errorClass: 'status',
  error: null,
  durationMs: 400,
  response: null,
  responseCut: false,
  resent: false,
  endpointVersion: 3 as number | null,
  nextRetryAt: null,
}

function rows(
  list: (readonly [attempt: number, kind: 'attempt' | 'close', outcome: string])[],
  status = 'delivered',
): string {
  const made = list.map(([n, kind, outcome], i) => ({
    ...attempt,
    ...{ attempt: n, kind, outcome, at: `2026-03-01T12:00:0${i}.000Z` },
  }))
  // SAFETY: the statuses here are those of a delivery.
  return timelineRows(made, status as Parameters<typeof timelineRows>[1])
    .map((row) => row.kind === 'replay' ? 'replay' : row.attempt.outcome).join(' ')
}

Deno.test('a replay is between an end and what follows', () => {
  expect(rows([[1, 'attempt', 'failed'], [2, 'attempt', 'delivered']])).toBe('failed delivered')
  expect(rows([[1, 'attempt', 'failed'], [1, 'close', 'dead_letter'], [2, 'attempt', 'delivered']]))
    .toBe('failed dead_letter replay delivered')
  expect(rows([[1, 'attempt', 'delivered'], [2, 'attempt', 'delivered']])).toBe(
    'delivered replay delivered',
  )
  expect(rows([[1, 'attempt', 'failed'], [1, 'close', 'cancelled']], 'cancelled')).toBe(
    'failed cancelled',
  )
  expect(rows([[1, 'attempt', 'failed'], [1, 'close', 'cancelled']], 'pending')).toBe(
    'failed cancelled replay',
  )
  expect(rows([[1, 'attempt', 'failed']], 'retrying')).toBe('failed')
  expect(rows([], 'pending')).toBe('')
})

const id = '01a2203a-0510-79a1-bb91-f1e06b0cb7a6'
const event = {
  ...{ id, type: 'order.paid', correlationId: 'cart-7', idempotencyKey: null, partitionKey: null },
  ...{ createdAt: '2026-03-01T12:00:00.000Z' },
}
const endpoint = {
  ...{ kind: 'webhook', url: 'https://example.com/hooks', payload: 'envelope', version: 3 },
  ...{ headerNames: ['x-tenant'], updatedAt: '2026-03-01T11:00:00.000Z' },
}
type Args = Parameters<typeof rebuildRequest>[0]

function rebuilt(
  more: { event?: object; endpoint?: object; attempt?: object; payload?: string | null } = {},
): string {
  // SAFETY: these are the members that it reads.
  const found = rebuildRequest({
    event: { ...event, ...more.event } as unknown as Args['event'],
    payload: more.payload === undefined ? '{"total": 12345678901234567890}' : more.payload,
    endpoint: { ...endpoint, ...more.endpoint } as unknown as Args['endpoint'],
    attempt: { ...attempt, ...more.attempt } as unknown as Args['attempt'],
  })
  return 'text' in found ? found.text : found.why
}

Deno.test('a rebuilt request has the headers and the body that the sender sends, without secrets', () => {
  const [head = '', body] = rebuilt().split('\n\n')
  const row = { type: 'order.paid', correlation_id: 'cart-7', idempotency_key: id }
  const sent = webhookHeaders({
    delivery: { event: id, failed_attempts: 0 },
    event: { ...row, traceparent: null },
    endpoint: { headers: { 'x-tenant': 'a secret' } },
    timestamp: 1_772_366_400,
    signatures: { standard: 'v1,a secret', simple: 'sha256=a secret' },
  })
  const pairs = new Map(
    Array.from({ length: sent.length / 2 }, (_, i) => [sent[2 * i], sent[2 * i + 1]]),
  )
  const [first, ...lines] = head.split('\n')
  expect(first).toBe('POST https://example.com/hooks')
  expect(lines.length).toBeGreaterThan(5)
  for (const line of lines) {
    const [name = '', value = ''] = line.split(': ')
    expect([name, value === '(not shown)' ? value : pairs.get(name)]).toEqual([name, value])
    expect([name, pairs.has(name)]).toEqual([name, true])
  }
  expect(head).not.toContain('a secret')
  const made = bodyOf({ payload: 'envelope' }, id, {
    ...row,
    body: '{"total": 12345678901234567890}',
  })
  expect(body).toBe(made)
  expect(rebuilt({ endpoint: { payload: 'data' } }).split('\n\n')[1]).toBe(
    '{"total": 12345678901234567890}',
  )
})

Deno.test('what is not certain of a request is not shown', () => {
  // The version counts: a change may be committed long after the time that it has.
  for (const endpointVersion of [2, 4]) {
    expect(rebuilt({ attempt: { endpointVersion } })).toMatch(/was changed since/)
  }
  expect(rebuilt({ attempt: { endpointVersion: null } })).toMatch(
    /the version of the endpoint .* is not stored/i,
  )
  expect(rebuilt({ endpoint: { updatedAt: '2026-03-01T13:00:00.000Z' } })).toMatch(/^POST /)
  expect(rebuilt({ endpoint: { kind: 'slack' } })).toMatch(/kind slack is not rebuilt/)
  expect(rebuilt({ payload: null })).toMatch(/not stored/)
})

Deno.test('a request is shown and has a time only if a response proves that it was sent', () => {
  const failed = (errorClass: string, more: object = {}) => ({
    ...attempt,
    ...{ status: null, errorClass, ...more },
  })
  for (const errorClass of errorClasses) {
    const one = failed(errorClass)
    expect([errorClass, rebuilt({ attempt: one })]).not.toEqual([
      errorClass,
      expect.stringMatching(/^POST /),
    ])
    expect([errorClass, sentAt(one)]).toEqual([errorClass, null])
  }
  for (const errorClass of ['dns', 'blocked', 'connect', 'tls']) {
    expect(rebuilt({ attempt: failed(errorClass) })).toMatch(/^Nothing was sent/)
    // Its first connection may have carried it.
    expect(rebuilt({ attempt: failed(errorClass, { resent: true }) })).toMatch(/not known/)
  }
  for (const errorClass of ['timeout', 'reset', 'protocol', 'too_large', 'lease_expired']) {
    expect(rebuilt({ attempt: failed(errorClass) })).toMatch(/it is not known what was sent/)
  }
  for (const errorClass of ['status', 'redirect']) {
    const one = failed(errorClass, { status: 301 })
    expect(rebuilt({ attempt: one })).toMatch(/^POST /)
    expect(sentAt(one)).toBe('2026-03-01T12:00:00.600Z')
  }
})

Deno.test('headers are shown as they are sent, so other characters than ASCII are encoded', () => {
  const [head = ''] = rebuilt({ event: { correlationId: 'größe \ud800', idempotencyKey: 'a b' } })
    .split('\n\n')
  expect(head).toContain(`\nx-correlation-id: ${headerValue('größe \ud800')}`)
  expect(head).toContain(`\nidempotency-key: ${headerValue('a b')}\n`)
})
