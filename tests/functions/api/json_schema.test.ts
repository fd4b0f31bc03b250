import { expect } from '@std/expect'
import {
  checkSchema,
  findMismatch,
  type PayloadSchema,
  stepsFor,
} from '../../../functions/api/json_schema.ts'

const order = {
  type: 'object',
  required: ['id'],
  properties: {
    id: { type: 'integer' },
    lines: { type: 'array', items: { $ref: '#/$defs/line' } },
  },
  $defs: {
    line: { type: 'object', properties: { code: { type: 'string', pattern: '^[A-Z]+$' } } },
  },
}

const payloads: [payload: unknown, path: string | null][] = [
  [{ id: 1 }, null],
  [{ id: 1, lines: [{ code: 'AB' }] }, null],
  [{}, ''],
  [{ id: '1' }, 'id'],
  [{ id: 1, lines: [{ code: 'AB' }, { code: 'ab' }] }, 'lines.1.code'],
  [7, ''],
]
for (const [payload, path] of payloads) {
  Deno.test(`findMismatch() finds ${path === null ? 'none' : `one at "${path}"`} in ${JSON.stringify(payload)}`, () => {
    expect(findMismatch(order, payload, stepsFor(100))?.path ?? null).toBe(path)
  })
}

const sound: PayloadSchema[] = [
  order,
  true,
  false,
  {},
  { anyOf: [{ type: ['string', 'null'] }, { not: { const: 1 } }] },
]
for (const schema of sound) {
  Deno.test(`checkSchema() takes ${JSON.stringify(schema).slice(0, 60)}`, () => {
    expect(checkSchema(schema)).toBeUndefined()
  })
}

function nested(depth: number): PayloadSchema {
  return depth === 0 ? true : { items: nested(depth - 1) }
}

/** Each part asks the next one twice: 2^40 answers. */
const forks: PayloadSchema = {
  $ref: '#/$defs/p0',
  $defs: Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `p${at}`,
      at === 39 ? true : { allOf: Array(2).fill({ $ref: `#/$defs/p${at + 1}` }) },
    ]),
  ),
}

const unsound: [what: string, schema: PayloadSchema, field: string][] = [
  ['a type that is none', { properties: { a: { type: 'text' } } }, 'schema.properties.a.type'],
  ['a reference outside', { $ref: 'https://example.com/schema' }, 'schema.$ref'],
  ['a reference to nothing', { $ref: '#/$defs/none' }, 'schema.$ref'],
  ['a reference to itself', { $ref: '#' }, 'schema'],
  ['a pattern that refers back', { pattern: '(a)\\1' }, 'schema.pattern'],
  ['such a pattern where no schema should be', {
    $ref: '#/other',
    other: { pattern: '(a)\\1' },
  }, 'schema.other.pattern'],
  ['such a pattern in dependencies', {
    dependencies: { a: { pattern: '(a)\\1' } },
  }, 'schema.dependencies.a.pattern'],
  ['an enum that is no array', { enum: 'paid' }, 'schema.enum'],
  ['a bound that is no number', { minimum: '1' }, 'schema.minimum'],
  ['a length below 0', { minLength: -1 }, 'schema.minLength'],
  ['a divisor of 0', { multipleOf: 0 }, 'schema.multipleOf'],
  ['uniqueItems that is neither true nor false', { uniqueItems: 1 }, 'schema.uniqueItems'],
  ['a dynamic reference outside', { $dynamicRef: 'x#a' }, 'schema.$dynamicRef'],
  ['references that fork', forks, 'schema'],
  ['a pattern that is none', { patternProperties: { '(': true } }, 'schema.patternProperties'],
  ['properties that are no object', { properties: 5 }, 'schema.properties'],
  ['names that are no text', { required: [1] }, 'schema.required'],
  ['a list that is none', { allOf: {} }, 'schema.allOf'],
  ['33 levels', nested(34), `schema${'.items'.repeat(33)}`],
  ['65,537 characters', described(65_537), 'schema'],
  ['a pattern of 501 characters', { pattern: 'x'.repeat(501) }, 'schema.pattern'],
]

/** A schema of so many characters. */
function described(characters: number): PayloadSchema {
  return { description: 'x'.repeat(characters - '{"description":""}'.length) }
}

for (
  const [what, schema] of [
    ['32 levels', nested(33)],
    ['65,536 characters', described(65_536)],
    ['a pattern of 500 characters', { pattern: 'x'.repeat(500) }],
  ] as const
) {
  Deno.test(`checkSchema() takes ${what}`, () => {
    expect(checkSchema(schema)).toBeUndefined()
  })
}

Deno.test('findMismatch() stops where references fork with the depth of the payload', () => {
  const again = { properties: { a: { $ref: '#' } } }
  const payload = JSON.parse('{"a":'.repeat(30) + '1' + '}'.repeat(30))
  expect(findMismatch({ allOf: [again, again] }, payload, stepsFor(200))).toEqual({
    kind: 'steps',
    path: '',
    detail: 'takes more than 501,000 steps',
  })
})

Deno.test('findMismatch() names the problem of a schema that was never checked', () => {
  expect(findMismatch({ type: 'text' }, 1, stepsFor(1))).toEqual({
    kind: 'schema',
    path: '',
    detail: 'schema.type is not a type',
  })
})

Deno.test('the events of a batch share one budget', () => {
  const steps = stepsFor(0)
  const schema = { items: { minimum: 0 } }
  const payload = Array(20_000).fill(1)
  const kinds = Array.from({ length: 20 }, () => findMismatch(schema, payload, steps)?.kind)
  expect(kinds.slice(0, 4)).toEqual(Array(4).fill(undefined))
  expect(kinds.slice(10)).toEqual(Array(10).fill('steps'))
})

const references: [what: string, schema: PayloadSchema, fits: unknown, not: unknown][] = [
  [
    'an escaped pointer',
    { $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': { type: 'null' } } },
    null,
    1,
  ],
  ['an anchor', { $ref: '#here', $defs: { a: { $anchor: 'here', type: 'null' } } }, null, 1],
  [
    'a dynamic anchor',
    {
      $dynamicRef: '#node',
      $defs: { a: { $dynamicAnchor: 'node', type: 'null' } },
    },
    null,
    1,
  ],
  ['a place in a list', { $ref: '#/anyOf/1', anyOf: [true, { type: 'null' }] }, null, 1],
  [
    'a part with an $id',
    {
      $ref: '#/$defs/a',
      $defs: { a: { $id: 'a', $ref: '#/$defs/b', $defs: { b: { type: 'null' } } }, b: false },
    },
    null,
    1,
  ],
]
for (const [what, schema, fits, not] of references) {
  Deno.test(`a reference finds ${what}`, () => {
    checkSchema(schema)
    expect(findMismatch(schema, fits, stepsFor(1))).toBe(null)
    expect(findMismatch(schema, not, stepsFor(1))?.detail).toBe('Expected null, got number')
  })
}

for (const [what, schema, field] of unsound) {
  Deno.test(`checkSchema() refuses ${what}`, () => {
    expect(() => checkSchema(schema)).toThrow(
      expect.objectContaining({ code: 'invalid_argument', field }),
    )
  })
}
