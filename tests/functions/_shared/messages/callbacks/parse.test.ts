import { expect } from '@std/expect'
import * as fc from 'fast-check'
import { readBody } from '../../../../../functions/_shared/messages/callbacks/body.ts'
import { objectOf } from '../../../../../functions/_shared/messages/callbacks/fields.ts'
import {
  maxUpdates,
  parseUpdates,
} from '../../../../../functions/_shared/messages/callbacks/parse.ts'
import type { Update } from '../../../../../functions/_shared/messages/callbacks/update.ts'
import { envelope, metadata, shapes } from './shapes.ts'

const encoder = new TextEncoder()

function parse(body: unknown): Update[] {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const read = readBody(encoder.encode(text))
  if (read === null) throw new Error('no object')
  return parseUpdates(read) ?? []
}

const unnamed = {
  field: '',
  waba_id: null,
  phone_number_id: null,
  display: null,
  wamid: null,
  status: null,
  callback_data: null,
  at: null,
  wa_id: null,
  user_id: null,
  problem: null,
}

for (const { name, body, updates } of shapes) {
  Deno.test(`parseUpdates() understands ${name}`, () => {
    const parsed = parse(body)
    expect(parsed).toEqual(updates.map((expected) => ({
      ...unnamed,
      key: expect.stringMatching(/^[0-9a-f]{64}$/),
      data: expect.any(Object),
      ...expected,
    })))
    expect(new Set(parsed.map(({ key }) => key)).size).toBe(parsed.length)
    // The same with its members in another order is the same.
    const other = typeof body === 'string' ? body : turned(body)
    expect(parse(other).map(({ key }) => key).sort()).toEqual(parsed.map(({ key }) => key).sort())
  })
}

/** The body with the members of its objects from last to first. */
function turned(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(turned)
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(
    Object.entries(body).reverse().map(([name, member]) => [name, turned(member)]),
  )
}

Deno.test('there are shapes enough to stand for what WhatsApp sends', () => {
  expect(shapes.length).toBeGreaterThanOrEqual(30)
})

type Status = Record<string, unknown>

function keyOf(over: Status, number = '1', field = 'messages'): string | undefined {
  const status = { id: 'wamid.A', status: 'sent', timestamp: '5', ...over }
  const value = { metadata: { phone_number_id: number }, statuses: [status] }
  return parse({ entry: [{ changes: [{ field, value }] }] })[0]?.key
}

Deno.test('the key of a status is stable and unique', () => {
  const key = keyOf({})
  for (const more of [{ pricing: { type: 'regular' } }, { timestamp: 5 }, { recipient_id: '12' }]) {
    expect(keyOf(more)).toBe(key)
  }
  const others = [
    keyOf({ id: 'wamid.B' }),
    keyOf({ status: 'read' }),
    keyOf({ timestamp: '6' }),
    keyOf({}, '2'),
    keyOf({ status: 'failed', errors: [{ code: 1 }] }),
    keyOf({ status: 'failed', errors: [{ code: 2 }] }),
    ...['1', '2'].map((recipient_participant_id) =>
      keyOf({ recipient_type: 'group', recipient_participant_id })
    ),
  ]
  expect(new Set([key, ...others]).size).toBe(others.length + 1)
})

Deno.test('a message that could not be shown has another key once it can', () => {
  const [first, second] = ['unsupported', 'text'].map((type) =>
    parse({
      entry: [{
        changes: [{ field: 'messages', value: { metadata, messages: [{ id: 'w', type }] } }],
      }],
    })[0]
  )
  expect(first?.wamid).toBe(second?.wamid)
  expect(first?.key).not.toBe(second?.key)
})

Deno.test('the same news of an account at another time is other news', () => {
  const at = (time: number): string | undefined =>
    parse({
      entry: [{ id: '1', time, changes: [{ field: 'account_update', value: { event: 'X' } }] }],
    })[0]?.key
  expect(at(1)).toBe(at(1))
  expect(at(1)).not.toBe(at(2))
})

Deno.test('parseUpdates() returns null for more than the maximum of updates', () => {
  const entry = { entry: Array(maxUpdates).fill({}) }
  expect(parseUpdates(entry)).toHaveLength(maxUpdates)
  entry.entry.push({})
  expect(parseUpdates(entry)).toBe(null)
})

Deno.test('the contact of each status is found by an index, however many contacts there are', () => {
  let looks = 0
  const contacts = Array.from(
    { length: 4000 },
    (_, n) =>
      new Proxy({ wa_id: `1202555${n}`, user_id: `U${n}` }, {
        get(target, name, receiver): unknown {
          if (name === 'wa_id' || name === 'user_id') looks++
          return Reflect.get(target, name, receiver)
        },
      }),
  )
  const statuses = contacts.map((_, n) => ({
    id: `wamid.${n}`,
    status: 'sent',
    recipient_id: `1202555${3999 - n}`,
  }))
  const updates = parse(envelope({ metadata, contacts, statuses }))
  expect(updates.map(({ data }) => objectOf(data['contact'])?.['wa_id']))
    .toEqual(statuses.map(({ recipient_id: waId }) => waId))
  // A few for each contact and update; a search looked at 8 million.
  expect(looks).toBeLessThan(40_000)
})

Deno.test('a large contact is not stored with each of its updates', () => {
  const contacts = [{ wa_id: '12025550111', profile: { name: 'x'.repeat(10_000) } }]
  const statuses = [{ id: 'wamid.1', status: 'sent' }, { id: 'wamid.2', status: 'sent' }]
  for (const { data } of parse(envelope({ metadata, contacts, statuses }))) {
    expect(data['contact']).toEqual({ wa_id: '12025550111', user_id: null, lossy: true })
  }
})

Deno.test('readBody() accepts only objects in UTF-8 with limited nesting', () => {
  const read = (text: string): unknown => readBody(encoder.encode(text))
  for (const text of ['', 'x', '[]', '"a"', 'null', '7', '{"a":', `{"a":${'['.repeat(3e6)}`]) {
    expect(read(text)).toBe(null)
  }
  expect(read(`{"a":${'['.repeat(64)}${']'.repeat(64)}}`)).toBe(null)
  expect(read(`{"a":${'['.repeat(63)}${']'.repeat(63)}}`)).not.toBe(null)
  expect(read('{"a":1e400,"b":-1.5,"c":12345678901234567890,"d":"12345678901234567890"}'))
    .toEqual({ a: '1e400', b: -1.5, c: '12345678901234567890', d: '12345678901234567890' })
  expect(
    readBody(Uint8Array.from([...encoder.encode('{"a":{"b":"'), 0xff, ...encoder.encode('"}}')])),
  )
    .toEqual({ a: { b: '\u{fffd}', lossy: true }, lossy: true })
})

Deno.test('the updates of any JSON body are valid, and Postgres can store them', () => {
  const word = fc.constantFrom(
    ...['object', 'entry', 'id', 'time', 'changes', 'field', 'value', 'metadata', 'statuses'],
    ...['phone_number_id', 'messages', 'contacts', 'user_preferences', 'status', 'errors', 'type'],
    ...['from', 'wa_id', 'user_id', 'timestamp', 'event', '__proto__', 'toString', '\0', '\ud800'],
  )
  const leaf = fc.oneof(
    fc.constantFrom('messages', 'user_preferences', '1', 'a\0b', '\ud800', null, true, -0),
    fc.double(),
    fc.string({ unit: 'binary' }),
  )
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'medium' },
      leaf,
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(word, tie('tree'), { maxKeys: 5 }),
    ),
  }))
  const text = fc.dictionary(word, tree, { maxKeys: 5 }).map((body) => JSON.stringify(body))
  fc.assert(
    fc.property(text, (json) => {
      for (const update of parse(json)) {
        expect(update.key).toMatch(/^[0-9a-f]{64}$/)
        const stored = JSON.stringify(update)
        expect(stored).not.toMatch(/\\u0000|\\ud[89a-f]/)
        expect(stored.isWellFormed()).toBe(true)
        for (const id of [update.waba_id, update.phone_number_id, update.wa_id]) {
          expect(id ?? '0').toMatch(/^[0-9]{1,32}$/)
        }
        expect(Number.isSafeInteger(update.at ?? 0)).toBe(true)
        expect(update.data).toEqual(expect.any(Object))
      }
    }),
    { numRuns: 300 },
  )
})
