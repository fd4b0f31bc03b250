import { expect } from '@std/expect'
import {
  checkSchema,
  findMismatch,
  type PayloadSchema,
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
    expect(findMismatch(order, payload)?.path ?? null).toBe(path)
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
  ['a reference to nothing', { $ref: '#/$defs/none' }, 'schema'],
  ['a reference to itself', { $ref: '#' }, 'schema'],
  ['a pattern that backtracks', { pattern: '^(a+)+$' }, 'schema.pattern'],
  ['a pattern that chooses again and again', { pattern: '^(a|a)*$' }, 'schema.pattern'],
  ['such a pattern where no schema should be', {
    $ref: '#/other',
    other: { pattern: '^(a+)+$' },
  }, 'schema.other.pattern'],
  ['such a pattern in dependencies', {
    dependencies: { a: { pattern: '^(a+)+$' } },
  }, 'schema.dependencies.a.pattern'],
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
  expect(findMismatch({ allOf: [again, again] }, payload)?.kind).toBe('schema')
})

for (const [what, schema, field] of unsound) {
  Deno.test(`checkSchema() refuses ${what}`, () => {
    expect(() => checkSchema(schema)).toThrow(
      expect.objectContaining({ code: 'invalid_argument', field }),
    )
  })
}
