import { expect } from '@std/expect'
import { isPassingSqlState, readAnswer } from '../../../../functions/_shared/database/dispatch.ts'
import { sampleEndpoint, sampleEvent, sampleSettings } from '../../samples.ts'

const answer = {
  stale: 0,
  routed: 0,
  stop: null,
  deliveries: [],
  events: {},
  endpoints: { e1: sampleEndpoint() },
  settings: sampleSettings(),
  error: null,
}

Deno.test('readAnswer() takes the contract’s shape and fields that it does not know', () => {
  expect(readAnswer(answer)).toEqual({ ok: true, answer })
  expect(readAnswer({ ...answer, later: 1 })).toEqual({ ok: true, answer })
})

Deno.test('readAnswer() leaves what a kind adds to events and endpoints to its sender', () => {
  const added = {
    ...answer,
    events: { v1: sampleEvent({ letter: { pages: 'two' } }) },
    endpoints: { e1: sampleEndpoint({ kind: 'pigeon', credentials: null, loft: [1] }) },
  }
  expect(readAnswer(added)).toEqual({ ok: true, answer: added })
})

Deno.test('readAnswer() names the field that is wrong and no value', () => {
  const endpoint = { ...sampleEndpoint(), secrets: 'whsec_secret' }
  const reply = readAnswer({ ...answer, endpoints: { e1: endpoint } })
  if (reply.ok) throw new Error('it was taken')
  expect(reply.fault.kind).toBe('never')
  expect(reply.fault.message).toContain('endpoints.e1.secrets')
  expect(JSON.stringify(reply)).not.toContain('whsec_secret')
  for (const value of [null, undefined, 'text', []]) expect(readAnswer(value).ok).toBe(false)
})

Deno.test('isPassingSqlState() tells what passes by itself', () => {
  for (const code of ['08006', '40P01', '53300', '55P03', '57014', '57P01', 'XX000']) {
    expect([code, isPassingSqlState(code)]).toEqual([code, true])
  }
  for (const code of ['', '22P02', '28P01', '42501', '42883', 'P0001', 'PGRST202']) {
    expect([code, isPassingSqlState(code)]).toEqual([code, false])
  }
})

Deno.test('readAnswer() reads a refusal in an answer of any shape', () => {
  for (const update of ['functions', 'database'] as const) {
    const refused = { update, message: `Update the ${update}` }
    for (const value of [{ refused }, { refused, later: 1 }, { ...answer, refused }]) {
      expect(readAnswer(value)).toMatchObject({
        ok: false,
        fault: { kind: 'never', message: refused.message, refusal: refused },
      })
    }
  }
  expect(readAnswer({ refused: 'yes' })).not.toMatchObject({
    fault: { refusal: expect.anything() },
  })
})
