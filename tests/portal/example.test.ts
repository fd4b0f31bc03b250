/** What the portal makes without a browser: the example of an event type, and the change of an endpoint. */

import { expect } from '@std/expect'
import { errorHints } from '../../console/page/events/explain.ts'
import { newEndpointSchema } from '../../functions/api/schemas/endpoints.ts'
import {
  bounds,
  changeOf,
  emptyFields,
  errorsOf,
  type FieldError,
  type FieldErrors,
  type Fields,
  fieldsOf,
} from '../../portal/element/endpoints/fields.ts'
import { english } from '../../portal/element/texts/english.ts'
import { hintKeys } from '../../portal/element/texts/hints.ts'
import { exampleOf } from '../../portal/element/types/example.ts'
import { readProjectFile } from '../project/_tracked.ts'

Deno.test('exampleOf() prefers what the schema gives itself', () => {
  expect(exampleOf({ type: 'object', examples: [{ id: 4 }] })).toEqual({ id: 4 })
  expect(exampleOf({ const: 0 })).toBe(0)
  expect(exampleOf({ type: 'string', enum: ['EUR', 'USD'] })).toBe('EUR')
  expect(exampleOf({ type: 'boolean', default: false })).toBe(false)
})

Deno.test('exampleOf() makes a value of each type', () => {
  const schema = {
    type: 'object',
    properties: {
      id: { type: 'integer', minimum: 7 },
      price: { exclusiveMinimum: 0, type: 'number' },
      at: { type: 'string', format: 'date-time' },
      name: { type: ['null', 'string'] },
      paid: { type: 'boolean' },
      items: { type: 'array', items: { $ref: '#/$defs/item' } },
      note: { oneOf: [{ type: 'null' }, { type: 'string' }] },
    },
    $defs: { item: { properties: { sku: { type: 'string', minLength: 6 } } } },
  }
  expect(exampleOf(schema)).toEqual({
    ...{ id: 7, price: 1, at: '2026-01-31T12:00:00Z', name: 'text', paid: true },
    ...{ items: [{ sku: 'text..' }], note: null },
  })
  expect(exampleOf({
    allOf: [{ properties: { a: { const: 1 } } }, { properties: { b: { const: 2 } } }],
  })).toEqual({ a: 1, b: 2 })
})

Deno.test('exampleOf() ends for a schema that contains itself, and for what is no schema', () => {
  const node: unknown = { properties: { next: { $ref: '#' } } }
  expect(JSON.stringify(exampleOf(node)).length).toBeLessThan(200)
  expect(exampleOf(true)).toEqual({})
  expect(exampleOf(null)).toEqual({})
  expect(exampleOf({ $ref: '#/$defs/%zz/none' })).toEqual({})
  expect(exampleOf({ type: 'string', minLength: 1e9 })).toHaveLength(100)
})

Deno.test('the form of an endpoint knows that a header replaces another one of its name', () => {
  const endpoint = {
    ...{ url: 'https://example.com/hooks', description: '', eventTypes: ['a.*'], filter: null },
    headerNames: ['x-tenant', 'x-other'],
  }
  // SAFETY: these are the members that the form reads.
  const whole = endpoint as unknown as Parameters<typeof changeOf>[1]
  const fields = fieldsOf(whole)
  const replaced = { ...fields, headers: [{ name: ' X-Tenant ', value: 'ada' }] }
  expect(changeOf(replaced, whole)).toEqual({ headers: { 'X-Tenant': 'ada', 'x-other': null } })
  const twice = { ...fields, headers: [...fields.headers, { name: 'X-Tenant', value: 'b' }] }
  expect(errorsOf(twice)).toEqual({ headers: { key: 'headerTwice', n: 0 } })
})

Deno.test('the bounds of the form are those of the API', async () => {
  // openapi.json does not say how long the name of a header may be.
  const takesName = (n: number): boolean =>
    newEndpointSchema.safeParse({
      ...{ url: 'https://example.com', eventTypes: ['*'], headers: { ['x'.repeat(n)]: 'a' } },
    }).success
  const { components: { schemas } } = JSON.parse(
    await readProjectFile('functions/api/openapi.json') ?? '',
  )
  for (const name of ['NewEndpoint', 'EndpointChange']) {
    const { url, description, eventTypes, filter, headers } = schemas[name].properties
    expect([name, {
      url: url.maxLength,
      description: description.maxLength,
      types: eventTypes.maxItems,
      type: eventTypes.items.maxLength,
      filter: filter.maxLength,
      headerValue: headers.additionalProperties.maxLength,
      headerName: [100, 101].filter(takesName).at(-1),
    }]).toEqual([name, bounds])
  }
})

Deno.test('the form takes what is at a bound, and says what is wrong with what is beyond it', () => {
  const right: Fields = { ...emptyFields, url: 'https://example.com/', types: ['order.*'] }
  const word = (n: number): string => 'x'.repeat(n)
  const types = (n: number): string[] => Array.from({ length: n }, (_, i) => `a.${i}`)
  const long = (n: number): FieldError => ({ key: 'tooLong', n })
  const cases: [at: Partial<Fields>, beyond: Partial<Fields>, errors: FieldErrors][] = [
    [
      { url: `https://e.x/${word(2036)}` },
      { url: `https://e.x/${word(2037)}` },
      { url: long(2048) },
    ],
    [{ url: ' http://e.x ' }, { url: 'https://e x' }, { url: { key: 'urlExpected', n: 0 } }],
    [{ description: word(1000) }, { description: word(1001) }, { description: long(1000) }],
    [{ filter: word(1000) }, { filter: word(1001) }, { filter: long(1000) }],
    [{ types: types(100) }, { types: types(101) }, { types: { key: 'tooManyTypes', n: 100 } }],
    [{ types: ['*'] }, { types: [] }, { types: { key: 'chooseType', n: 0 } }],
    [{ types: [word(128)] }, { types: [word(129)] }, { types: { key: 'typeExpected', n: 128 } }],
    [
      { types: ['order.paid'] },
      { types: ['order.paid', 'order.'] },
      { types: { key: 'typeExpected', n: 128 } },
    ],
    [
      { headers: [{ name: word(100), value: word(4096) }] },
      { headers: [{ name: 'a', value: word(4097) }] },
      { headers: long(4096) },
    ],
    [
      { headers: [{ name: 'kept', value: null }] },
      { headers: [{ name: word(101), value: 'a' }] },
      { headers: long(100) },
    ],
    [
      { headers: [] },
      { headers: [{ name: 'a', value: '' }] },
      { headers: { key: 'headerValue', n: 0 } },
    ],
  ]
  for (const [at, beyond, errors] of cases) {
    expect([at, errorsOf({ ...right, ...at })]).toEqual([at, {}])
    expect(errorsOf({ ...right, ...beyond })).toEqual(errors)
  }
  // An endpoint that is no HTTP request has no URL here.
  expect(errorsOf({ ...right, url: '' }, false)).toEqual({})
})

Deno.test('each error class has a hint, whose text is that of the database', () => {
  expect(Object.keys(hintKeys)).toEqual(Object.keys(errorHints))
  for (const [errorClass, key] of Object.entries(hintKeys)) {
    expect([errorClass, english[key]]).toEqual([errorClass, errorHints[errorClass]])
  }
})
