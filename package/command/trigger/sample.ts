/** A JSON Schema, as far as a sample needs it. */
interface Schema {
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  default?: unknown
  example?: unknown
  examples?: unknown[]
  format?: string
  minimum?: number
  minLength?: number
  minItems?: number
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
}

/** Texts for formats that a schema may require. */
const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  email: 'person@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
}

/**
 * A value for a schema of the catalogue: its example or default, otherwise the simplest value of its
 * type. The API validates it: a schema with a pattern may need data of a person.
 */
export function sampleOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return {}
  // SAFETY: members that are something else than in JSON Schema are used nowhere but in the sample.
  const schema = value as Schema
  for (const given of [schema.const, schema.example, schema.examples?.[0], schema.default]) {
    if (given !== undefined) return given
  }
  if (schema.enum !== undefined) return schema.enum[0]
  const [first] = schema.oneOf ?? schema.anyOf ?? []
  if (first !== undefined) return sampleOf(first)
  if (schema.allOf !== undefined) {
    return Object.assign({}, ...schema.allOf.map((part) => sampleOf(part)))
  }
  return valueOf(schema)
}

function valueOf(schema: Schema): unknown {
  const [type = 'object'] = [schema.type ?? []].flat()
  switch (type) {
    case 'string':
      return formats[schema.format ?? ''] ?? 'sample'.padEnd(schema.minLength ?? 0, '-')
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array':
      return Array.from({ length: Math.max(1, schema.minItems ?? 0) }, () => sampleOf(schema.items))
    default:
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, part]) => [name, sampleOf(part)]),
      )
  }
}
