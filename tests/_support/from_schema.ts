import * as fc from 'fast-check'

/** As much of JSON Schema as the description of the API uses. */
export type JsonSchema = {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minItems?: number
  minimum?: number
  maximum?: number
}

/** What hostile clients send where something else is expected. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    '',
    "'; drop table outbox.event; --",
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\udfff\ud800',
    '../../etc/passwd',
    '%00',
    '\u202e',
    'x'.repeat(5000),
    1e308,
    -1e308,
    Number.MAX_SAFE_INTEGER + 2,
    -0,
    1e-320,
    [[[[[[[[]]]]]]]],
    { __proto__: null, constructor: 1, toString: 2 },
    JSON.parse('{"__proto__": {"role": "admin"}}'),
  ),
)

/** Values that a schema takes. */
export function valuesOf(
  schema: JsonSchema,
  all: Record<string, JsonSchema>,
): fc.Arbitrary<unknown> {
  const { $ref } = schema
  if ($ref !== undefined) {
    const found = all[$ref.replace('#/components/schemas/', '')]
    if (found === undefined) throw new Error(`no schema ${$ref}`)
    return valuesOf(found, all)
  }
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const [only, ...merged] = schema.allOf ?? []
  if (only !== undefined && merged.length === 0) return valuesOf(only, all)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return fc.oneof(...choices.map((one) => valuesOf(one, all)))
  const types = Array.isArray(schema.type) ? schema.type : [schema.type]
  return fc.oneof(...types.map((type) => valuesOfType(type, schema, all)))
}

function valuesOfType(
  type: string | undefined,
  schema: JsonSchema,
  all: Record<string, JsonSchema>,
): fc.Arbitrary<unknown> {
  const { minimum: min = 0, maximum: max = 1000 } = schema
  switch (type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({ min: Math.max(min, -(2 ** 31)), max: Math.min(max, 2 ** 31 - 1) })
    case 'number':
      return fc.double({ min, max, noNaN: true })
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}, all), {
        minLength: schema.minItems ?? 0,
        maxLength: (schema.minItems ?? 0) + 3,
      })
    case 'object':
      return fc.record(
        Object.fromEntries(
          Object.entries(schema.properties ?? {}).map(([name, one]) => [name, valuesOf(one, all)]),
        ),
        { requiredKeys: schema.required ?? [] },
      )
    case 'string':
      return textsOf(schema)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function textsOf(
  { format, pattern, minLength = 0, maxLength = 50 }: JsonSchema,
): fc.Arbitrary<string> {
  if (format === 'uuid') return fc.uuid()
  if (format === 'date-time') {
    return fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
      .map((date) => date.toISOString())
  }
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern))
  return fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 50) })
}
