import { expect } from '@std/expect'
import { NoRoom } from '../../../../../functions/_shared/senders/no_room.ts'
import { outcomeOf } from '../../../../../functions/_shared/senders/whatsapp/response.ts'
import type { Exchange } from '../../../../../functions/_shared/transport/transport.ts'
import { graphError } from '../../../../../supabase/local/whatsapp/errors.ts'

type Answer = Extract<Exchange, { kind: 'response' }>

function answer(status: number, body: unknown, over: Partial<Answer> = {}): Answer {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const bytes = new TextEncoder().encode(text)
  return { kind: 'response', status, retryAfter: null, body: bytes, cut: false, ...over }
}

const accepted = {
  messaging_product: 'whatsapp',
  contacts: [{ input: '+12025550111', wa_id: '12025550111' }],
  messages: [{ id: 'wamid.TESTAAAA', message_status: 'accepted' }],
}

Deno.test('outcomeOf() reads the wamid from a 200', () => {
  expect(outcomeOf(answer(200, accepted))).toEqual({
    outcome: 'delivered',
    status: 200,
    provider_id: 'wamid.TESTAAAA',
    provider: { message_status: 'accepted', wa_id: '12025550111' },
  })
})

Deno.test('outcomeOf() reads a 200 to a user id, which has no wa_id', () => {
  const body = { contacts: [{ user_id: 'US.1' }], messages: [{ id: 'wamid.B' }] }
  expect(outcomeOf(answer(200, body)))
    .toMatchObject({ provider_id: 'wamid.B', provider: { user_id: 'US.1' } })
})

Deno.test('outcomeOf() reports both ids of the recipient, and neither if it is no text', () => {
  const both = { ...accepted, contacts: [{ wa_id: '12025550111', user_id: 'US.1' }] }
  expect(outcomeOf(answer(200, both)))
    .toMatchObject({ provider: { wa_id: '12025550111', user_id: 'US.1' } })
  const odd = { ...accepted, contacts: [{ wa_id: 7, user_id: { id: 'US.1' } }] }
  expect(outcomeOf(answer(200, odd))).toHaveProperty('provider', { message_status: 'accepted' })
})

Deno.test('outcomeOf() reports a 200 as delivered even without a readable wamid', () => {
  for (const body of ['', '{"messages":[{"id":"wam', '[]', { messages: [] }, { contacts: 1 }]) {
    expect(outcomeOf(answer(200, body, { cut: true })))
      .toEqual({ outcome: 'delivered', status: 200, provider: {} })
  }
})

Deno.test('outcomeOf() goes by the code and not by the status', () => {
  for (const status of [200, 400, 403, 429, 500]) {
    const { body } = graphError({ code: 131056, details: 'Too many' })
    expect(outcomeOf(answer(status, body))).toEqual({
      outcome: 'failed',
      error_class: 'status',
      error: 'WhatsApp refuses with error 131056: Too many',
      status,
      code: '131056',
      provider: {
        title: '(#131056) (Business Account, Consumer Account) pair rate limit hit',
        details: 'Too many',
        fbtrace_id: 'AbCdEfGhIjKlMnOpQrStUv',
      },
    })
  }
})

Deno.test('outcomeOf() reports the other members of the error', () => {
  const { body } = graphError({ code: 2, subcode: 2494055, isTransient: true })
  expect(outcomeOf(answer(503, body))).toMatchObject({
    code: '2',
    provider: { subcode: 2494055, is_transient: true },
  })
})

Deno.test('outcomeOf() reads an error of few or odd fields', () => {
  const rows: [unknown, unknown][] = [
    [{ code: 100 }, {}],
    [{ code: 100, error_data: 'words alone' }, { details: 'words alone' }],
    [{ code: 100, error_data: null, is_transient: 'yes', message: 7, fbtrace_id: {} }, {}],
    [{ code: 100, error_user_title: 'For people', message: 'x' }, { title: 'For people' }],
    [{ code: 100, error_data: { details: 'NUL\0 and \ud800' } }, { details: 'NUL and \ufffd' }],
  ]
  for (const [error, provider] of rows) {
    expect(outcomeOf(answer(400, { error }))).toMatchObject({ code: '100', status: 400 })
    expect(outcomeOf(answer(400, { error }))).toHaveProperty('provider', provider)
  }
})

Deno.test('outcomeOf() has the status alone where no error of Meta came', () => {
  const bodies = ['<html>502</html>', '', 'null', '{"error":"x"}', '{"error":{"code":"1"}}']
  for (const body of bodies) {
    expect(outcomeOf(answer(502, body))).toEqual({
      outcome: 'failed',
      error_class: 'status',
      error: 'The Graph API responded with 502 and gave no reason',
      status: 502,
    })
  }
  expect(outcomeOf(answer(302, ''))).toMatchObject({ error_class: 'redirect', status: 302 })
})

Deno.test('outcomeOf() reports a request that was not sent as a missing connection', () => {
  const unsent = { kind: 'fault', message: 'It is so', unsent: true } as const
  for (const errorClass of ['timeout', 'reset'] as const) {
    expect(outcomeOf({ ...unsent, errorClass })).toMatchObject({ error_class: 'connect' })
  }
  expect(outcomeOf({ ...unsent, errorClass: 'tls' }))
    .toMatchObject({ error_class: 'tls', error: 'It is so' })
})

Deno.test('outcomeOf() passes on a connection fault', () => {
  for (const errorClass of ['dns', 'connect', 'tls', 'timeout', 'reset', 'blocked'] as const) {
    expect(outcomeOf({ kind: 'fault', errorClass, message: 'It is so' }))
      .toEqual({ outcome: 'failed', error_class: errorClass, error: 'It is so' })
  }
})

Deno.test('outcomeOf() reports the longer of the two waits', () => {
  const regain = (minutes: unknown): Record<string, string> => ({
    'x-business-use-case-usage': JSON.stringify({
      '200': [{ type: 'messages', call_count: 100, estimated_time_to_regain_access: minutes }],
    }),
  })
  const date = 'Wed, 21 Oct 2026 07:28:00 GMT'
  const rows: [string | null, Record<string, string>, string | undefined][] = [
    [null, {}, undefined],
    ['120', {}, '120'],
    [null, regain(5), '300'],
    ['120', regain(5), '300'],
    ['600', regain(5), '600'],
    ['120', regain(0), '120'],
    ['120', regain('soon'), '120'],
    [date, {}, date],
    [null, { 'x-business-use-case-usage': '{not json' }, undefined],
    [null, { 'x-business-use-case-usage': '"text"' }, undefined],
  ]
  const { body } = graphError({ code: 80007 })
  for (const [retryAfter, headers, wait] of rows) {
    const outcome = outcomeOf(answer(400, body, { retryAfter, headers }))
    const came = 'retry_after' in outcome ? outcome.retry_after : undefined
    expect([retryAfter, headers, came]).toEqual([retryAfter, headers, wait])
  }
})

Deno.test('outcomeOf() returns the usage headers', () => {
  const headers = { 'x-app-usage': '{"call_count":12}' }
  const usage = { 'x-app-usage': { call_count: 12 } }
  expect(outcomeOf(answer(200, accepted, { headers }))).toMatchObject({ provider: { usage } })
  expect(outcomeOf(answer(503, '', { headers }))).toMatchObject({ provider: { usage } })
})

Deno.test("outcomeOf() says no person's number in the error's sentence", () => {
  for (const number of ['+12025550111', '12025550111', '+1 (202) 555-0111']) {
    const details = `Recipient ${number} is not in the list of 5`
    const outcome = outcomeOf(answer(400, graphError({ code: 131030, details }).body))
    expect(outcome).toMatchObject({
      error: 'WhatsApp refuses with error 131030: Recipient … is not in the list of 5',
    })
  }
})

Deno.test('outcomeOf() makes no outcome of a request that the process had no room for', () => {
  const full = { kind: 'fault', errorClass: 'dns', message: 'It is so', isOurs: true } as const
  expect(() => outcomeOf(full)).toThrow(NoRoom)
  // Then it was sent once.
  expect(outcomeOf({ ...full, resent: true })).toMatchObject({ error_class: 'dns' })
})
