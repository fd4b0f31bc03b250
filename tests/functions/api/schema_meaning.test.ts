/** Schemas mean what an independent validator says, for ordinary schemas and payloads. */

import { dereference, type Schema, validate } from '@cfworker/json-schema'
import { expect } from '@std/expect'
import fc from 'fast-check'
import { checkSchema, findMismatch, stepsFor } from '../../../functions/api/json_schema.ts'
import type { PayloadSchema } from '../../../functions/api/json_schema.ts'

const runs = 3000
const name = fc.constantFrom('a', 'b', 'id', 'x-y', '__proto__', 'toString')
const scalar = fc.constantFrom<unknown>(
  ...[null, true, false, 0, 1, -1, 2, 3, 0.1, 0.3, 1.5, 10, 1e20, 1e-7],
  ...['', 'a', 'ab', 'abc', 'A', '2024-02-29', 'é😀', 'x@y.de', '1', '127.0.0.1'],
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
}))
const count = fc.integer({ min: 0, max: 3 })
const typeName = fc.constantFrom(
  ...['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'],
)
const simple = fc.constantFrom<PayloadSchema>(
  ...[true, false, {}, { type: 'string' }, { type: 'number' }, { minimum: 1 }],
  ...[{ type: 'object' }, { type: 'array' }],
)
const { part: partSchema } = fc.letrec<{ part: PayloadSchema }>((tie) => {
  const part = tie('part')
  const pair = fc.tuple(part, part)
  const map = fc.dictionary(fc.constantFrom('a', 'b', 'id'), part, { minKeys: 1, maxKeys: 2 })
  const keywords: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 2 })),
    const: value,
    enum: fc.array(value, { minLength: 1, maxLength: 3 }),
    minimum: count,
    maximum: count,
    exclusiveMinimum: count,
    exclusiveMaximum: count,
    multipleOf: fc.constantFrom(1, 2, 0.1, 0.01, 1.5),
    minLength: count,
    maxLength: count,
    pattern: fc.constantFrom('^a', 'b$', '^[a-c]*$', '\\d', '.'),
    format: fc.constantFrom('date', 'email', 'ipv4', 'uuid', 'uri', 'unknown'),
    required: fc.uniqueArray(name, { maxLength: 2 }),
    minProperties: count,
    maxProperties: count,
    properties: map,
    patternProperties: fc.dictionary(fc.constantFrom('^a', 'b', '.'), part, { maxKeys: 2 }),
    additionalProperties: part,
    propertyNames: simple,
    dependentRequired: fc.dictionary(name, fc.array(name, { maxLength: 1 }), { maxKeys: 1 }),
    dependentSchemas: map,
    dependencies: fc.dictionary(
      fc.constantFrom('a', 'b'),
      fc.oneof(part, fc.constant(['b'])),
      { maxKeys: 2 },
    ),
    prefixItems: pair,
    items: part,
    contains: part,
    minContains: count,
    maxContains: count,
    minItems: count,
    maxItems: count,
    uniqueItems: fc.boolean(),
    allOf: pair,
    anyOf: pair,
    oneOf: pair,
    not: part,
    if: part,
    then: part,
    else: part,
    $ref: fc.constantFrom('#/$defs/p', '#q'),
  }
  return {
    part: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      simple,
      fc.uniqueArray(fc.constantFrom(...Object.keys(keywords)), { minLength: 1, maxLength: 4 })
        .chain((names) => fc.record(Object.fromEntries(names.map((key) => [key, keywords[key]!])))),
    ),
  }
})

Deno.test('a schema accepts and refuses what another validator does', () => {
  let fits = 0
  let total = 0
  const definitions = {
    p: { type: ['object', 'string'] },
    z: { $anchor: 'q', minProperties: 1 },
  }
  fc.assert(
    fc.property(partSchema, fc.array(value, { minLength: 8, maxLength: 8 }), (part, values) => {
      if (typeof part === 'boolean') return
      // Copies through JSON, as the API has them; the other validator writes into its schema.
      const text = JSON.stringify({ ...part, $defs: definitions })
      const schema: PayloadSchema = JSON.parse(text)
      checkSchema(schema)
      const other: Schema = JSON.parse(text)
      const lookup = dereference(other)
      for (const item of values) {
        const payload = JSON.parse(JSON.stringify(item))
        const isFit = findMismatch(schema, payload, stepsFor(0)) === null
        expect([text, payload, isFit]).toEqual([
          text,
          payload,
          validate(payload, other, '2020-12', lookup).valid,
        ])
        total++
        if (isFit) fits++
      }
    }),
    { numRuns: runs },
  )
  expect(fits).toBeGreaterThan(total / 5)
  expect(fits).toBeLessThan(total * 4 / 5)
})

/** Texts of each format, valid and not. Each is also tried as every other format. */
const examples: Record<string, string[]> = {
  date: [
    '2024-02-29',
    '2023-02-29',
    '1900-02-29',
    '2000-02-29',
    '2024-13-01',
    '2024-04-31',
    '2024-1-1',
  ],
  time: ['23:59:60Z', '12:00:00+01:30', '12:00:00', '00:29:60+00:30', '12:00:00.123z', '24:00:00Z'],
  'date-time': ['2024-02-29T12:00:00Z', '2024-02-29 12:00:00+01:00', '2024-02-30t12:00:00.5z'],
  duration: ['P1Y2M3DT4H5M6S', 'P3W', 'PT1H', 'P1YT1S', 'P1Y1D', 'PT', 'P', 'P1W1D', 'PT1H1S'],
  email: [
    'a@b.c',
    '"a b"@x.de',
    'a..b@c.d',
    'a@[127.0.0.1]',
    'a@[ipv6:::1]',
    '.a@b',
    'a@b@c',
    'ä@b.c',
  ],
  hostname: ['a.b', '-a.b', 'a-.b', 'a_b', 'x'.repeat(63), 'x'.repeat(64), 'a.b.', '1.2'],
  ipv4: ['1.2.3.4', '256.1.1.1', '01.2.3.4', '1.2.3', '1.2.3.4.5'],
  ipv6: [
    '::',
    '::1',
    '1::',
    '1:2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7::',
    '::1.2.3.4',
    ':1',
    '1:::2',
    'fe80::1%1',
  ],
  uri: [
    'http://a.b/c?d#e',
    'urn:x:y',
    '//a',
    'http:',
    'mailto:a@b',
    'http://[::1]:80/',
    'http://a b',
    'a/%zz',
  ],
  'uri-reference': ['a/b', '/a', '#x', '?q', '', 'a:b', '//h', 'a b', '\\x', './a:b'],
  'uri-template': [
    'http://x/{a}',
    '{?q,w*}',
    '{',
    '}',
    '{a:3}',
    '{a:0}',
    '{}',
    '{a.b}',
    '{a,}',
    'x{+w}',
  ],
  url: [
    'http://a.de',
    'https://10.0.0.1',
    'http://1.2.3.4:8080/x',
    'http://localhost',
    'ftp://u:p@a.co/x',
  ],
  uuid: ['123e4567-e89b-12d3-a456-426614174000', '123E4567-E89B-12D3-A456-42661417400'],
  regex: ['a+', '(', '\\Z', 'x\\Z', '[a', '\\p{L}'],
  'json-pointer': ['/a', '/~0', '/~2', 'a/'],
  'json-pointer-uri-fragment': ['#', '#/a', '#/%20', '#/ä', '#a'],
  'relative-json-pointer': ['0', '1#', '01', '1/a', '-1'],
}

for (const format of Object.keys(examples)) {
  Deno.test(`the format ${format} accepts and refuses what another validator does`, () => {
    for (const text of Object.values(examples).flat()) {
      expect([text, findMismatch({ format }, text, stepsFor(1000)) === null])
        .toEqual([text, validate(text, { format }, '2020-12').valid])
    }
  })
}
