import { expect } from '@std/expect'
import type { Principal } from '../../../functions/api/auth/principal.ts'
import { allScopes } from '../../../functions/api/auth/scopes.ts'
import { ApiError } from '../../../functions/api/errors.ts'
import type { OpenSpan, SpanOptions, Tracer } from '../../../functions/_shared/trace/tracer.ts'
import { apiAlone } from '../../_support/api_alone.ts'

const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
const unsampled = traceparent.replace(/01$/, '00')
const own = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`

/** What the database and the tracer get for a publish of a caller of this kind; null: it is unknown. */
async function publish(
  kind: Principal['kind'] | null,
  { isRecorded, event = {} }: { isRecorded: boolean; event?: Record<string, string> },
): Promise<{ spans: SpanOptions[]; trace: unknown; row: unknown }> {
  const spans: SpanOptions[] = []
  const tracer: Tracer = {
    begin(options): OpenSpan | null {
      spans.push(options)
      return isRecorded ? { traceId: 'c'.repeat(32), traceparent: own, end: () => {} } : null
    },
    flush: () => Promise.resolve(),
  }
  let trace: unknown
  let row: unknown
  const app = apiAlone({
    result: (_name, args, traceparent) => {
      trace = traceparent
      row = Array.isArray(args.p_events) ? args.p_events[0] : undefined
      return { ids: ['1'] }
    },
    deps: {
      authenticate: () => {
        if (kind === null) return Promise.reject(new ApiError('unauthenticated', 'Unknown'))
        const scopes = new Set(allScopes)
        return Promise.resolve({ orgId: 'org-1', scopes, actor: 'a', kind, portal: null })
      },
      now: () => 5,
      tracer,
    },
  })
  const response = await app.request('/api/v1/events', {
    method: 'POST',
    headers: { 'content-type': 'application/json', traceparent },
    body: JSON.stringify({ type: 'a.b', payload: {}, ...event }),
  })
  expect(response.status).toBe(kind === null ? 401 : 202)
  return { spans, trace, row }
}

Deno.test('a request without valid credentials starts a trace of its own', async () => {
  const { spans } = await publish(null, { isRecorded: true })
  expect(spans).toEqual([{ name: 'POST', kind: 'server', parent: null, at: 5 }])
})

Deno.test('a secret key decides by its flag, and a token does not', async () => {
  const ofKey = await publish('key', { isRecorded: true })
  expect(ofKey.spans[0]).toMatchObject({ parent: traceparent, isTrusted: true, at: 5 })
  expect((await publish('key', { isRecorded: false })).trace).toBe(traceparent)
  for (const kind of ['user', 'portal'] as const) {
    const recorded = await publish(kind, { isRecorded: true })
    expect(recorded.spans[0]).toMatchObject({ parent: traceparent, isTrusted: false, at: 5 })
    expect(recorded.trace).toBe(own)
    expect((await publish(kind, { isRecorded: false })).trace).toBe(unsampled)
  }
})

Deno.test('an event of a token is sampled only if its request is recorded', async () => {
  const event = { traceparent }
  expect((await publish('user', { isRecorded: false, event })).row)
    .toMatchObject({ traceparent: unsampled })
  expect((await publish('user', { isRecorded: true, event })).row).toMatchObject(event)
  expect((await publish('key', { isRecorded: false, event })).row).toMatchObject(event)
})
