/** What the portal makes without a browser: the example of an event type, and the change of an endpoint. */

import { expect } from '@std/expect'
import { changeOf, errorsOf, fieldsOf } from '../../portal/element/endpoints/fields.ts'
import { exampleOf } from '../../portal/element/types/example.ts'

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
  expect(errorsOf(twice)).toEqual({ headers: 'headerTwice' })
})
