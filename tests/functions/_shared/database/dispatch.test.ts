import { expect } from '@std/expect'
import {
  isTemporarySqlState,
  readResponse,
} from '../../../../functions/_shared/database/dispatch.ts'
import { sampleEndpoint, sampleEvent, sampleSettings } from '../../samples.ts'

const response = {
  stale: 0,
  routed: 0,
  stop: null,
  deliveries: [],
  events: {},
  endpoints: { e1: sampleEndpoint() },
  settings: sampleSettings(),
  error: null,
}

Deno.test('readResponse() accepts the contract’s shape and unknown fields', () => {
  expect(readResponse(response)).toEqual({ ok: true, response })
  expect(readResponse({ ...response, later: 1 })).toEqual({ ok: true, response })
})

Deno.test('readResponse() leaves what a kind adds to events and endpoints to its sender', () => {
  const added = {
    ...response,
    events: { v1: sampleEvent({ letter: { pages: 'two' } }) },
    endpoints: { e1: sampleEndpoint({ kind: 'pigeon', credentials: null, loft: [1] }) },
  }
  expect(readResponse(added)).toEqual({ ok: true, response: added })
})

Deno.test('readResponse() names the field that is wrong and no value', () => {
  const endpoint = { ...sampleEndpoint(), secrets: 'whsec_secret' }
  const reply = readResponse({ ...response, endpoints: { e1: endpoint } })
  if (reply.ok) throw new Error('it was taken')
  expect(reply.fault.kind).toBe('permanent')
  expect(reply.fault.message).toContain('endpoints.e1.secrets')
  expect(JSON.stringify(reply)).not.toContain('whsec_secret')
  for (const value of [null, undefined, 'text', []]) expect(readResponse(value).ok).toBe(false)
})

Deno.test('isTemporarySqlState() recognises temporary errors', () => {
  for (const code of ['08006', '40P01', '53300', '55P03', '57014', '57P01', 'XX000']) {
    expect([code, isTemporarySqlState(code)]).toEqual([code, true])
  }
  for (const code of ['', '22P02', '28P01', '42501', '42883', 'P0001', 'PGRST202']) {
    expect([code, isTemporarySqlState(code)]).toEqual([code, false])
  }
})

Deno.test('readResponse() reads a refusal in an response of any shape', () => {
  for (const update of ['functions', 'database'] as const) {
    const refused = { update, message: `Update the ${update}` }
    for (const value of [{ refused }, { refused, later: 1 }, { ...response, refused }]) {
      expect(readResponse(value)).toMatchObject({
        ok: false,
        fault: { kind: 'permanent', message: refused.message, refusal: refused },
      })
    }
  }
  expect(readResponse({ refused: 'yes' })).not.toMatchObject({
    fault: { refusal: expect.anything() },
  })
})
