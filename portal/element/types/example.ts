/** A value that fits a JSON Schema well enough to show what an event looks like. */

type Schema = Record<string, unknown>

/** How deep a schema that contains itself is followed. */
const deepest = 6

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T12:00:00Z',
  date: '2026-01-31',
  time: '12:00:00Z',
  email: 'ada@example.com',
  uri: 'https://example.com/',
  uuid: '019a9c6e-8f3c-7d1a-9b1e-0c5f6a7b8c9d',
}

/** The first of the schema's own `examples`, else a value made from its keywords. */
export function exampleOf(schema: unknown, root: unknown = schema, depth = 0): unknown {
  if (!isSchema(schema) || depth > deepest) return {}
  const given = [schema.const, first(schema.examples), schema.default, first(schema.enum)]
    .find((value) => value !== undefined)
  if (given !== undefined) return given
  const below = (one: unknown): unknown => exampleOf(one, root, depth + 1)
  if (typeof schema.$ref === 'string') return below(referenced(root, schema.$ref))
  const branch = first(schema.oneOf) ?? first(schema.anyOf)
  if (branch !== undefined) return below(branch)
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== 'null') : schema.type
  if (type === 'string') return text(schema)
  if (type === 'integer' || type === 'number') return number(schema)
  if (type === 'boolean') return true
  if (type === 'null') return null
  if (type === 'array' || isSchema(schema.items)) {
    return isSchema(schema.items) ? [below(schema.items)] : []
  }
  const parts = Array.isArray(schema.allOf) ? schema.allOf.map(below).filter(isSchema) : []
  const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : []
  return Object.assign(
    {},
    ...parts,
    Object.fromEntries(properties.map(([name, one]) => [name, below(one)])),
  )
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function first(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined
}

/** A reference within the schema: `#/$defs/address`. */
function referenced(root: unknown, reference: string): unknown {
  const words = reference.replace(/^#\/?/, '').split('/').filter((word) => word !== '')
  return words.reduce<unknown>((at, word) => {
    const name = decoded(word).replaceAll('~1', '/').replaceAll('~0', '~')
    return isSchema(at) && Object.hasOwn(at, name) ? at[name] : undefined
  }, root)
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word)
  } catch {
    return word
  }
}

function text({ format, minLength }: Schema): string {
  const known = typeof format === 'string' && Object.hasOwn(formats, format)
    ? formats[format]
    : undefined
  if (known !== undefined) return known
  return 'text'.padEnd(Math.min(typeof minLength === 'number' ? minLength : 0, 100), '.')
}

function number({ minimum, exclusiveMinimum }: Schema): number {
  if (typeof minimum === 'number') return minimum
  return typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : 1
}
