import { fieldMeanings } from './field_meanings.ts'

/** The parts of a JSON Schema that have members. */
export type Described = {
  description?: string
  $ref?: string
  properties?: Record<string, Described>
  items?: Described
  allOf?: Described[]
  anyOf?: Described[]
  oneOf?: Described[]
}

/**
 * Gives a description to each member of the schemas that has none: what `fieldMeanings` says of its
 * path, such as `Endpoint.breaker.status`, or of its name.
 */
export function describeFields(schemas: Record<string, Described>): void {
  for (const [name, schema] of Object.entries(schemas)) describe(schema, name)
}

function describe(schema: Described, path: string): void {
  const { properties = {} } = schema
  for (const [name, given] of Object.entries(properties)) {
    const meaning = fieldMeanings[`${path}.${name}`] ?? fieldMeanings[name]
    // A copy, because several members may have one schema.
    const member = { ...given }
    if (meaning !== undefined && member.$ref === undefined) member.description ??= meaning
    properties[name] = member
    describe(member, `${path}.${name}`)
  }
  if (schema.items !== undefined) describe(schema.items, `${path}[]`)
  for (const choices of [schema.allOf, schema.anyOf, schema.oneOf]) {
    for (const choice of choices ?? []) describe(choice, path)
  }
}
