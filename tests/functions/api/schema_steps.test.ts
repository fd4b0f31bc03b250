/** What the schemas of event types cost, in steps: it is linear in the payload, or it is an error. */

import { expect } from '@std/expect'
import { checkSchema, findMismatch, stepsFor } from '../../../functions/api/json_schema.ts'
import type { PayloadSchema } from '../../../functions/api/json_schema.ts'
import { hostilePatterns, refusedPatterns } from './_hostile_patterns.ts'
import { refusedSchemas, takenSchemas } from './_hostile_schemas.ts'

Deno.test('the tables have enough hostile inputs', () => {
  const schemas = takenSchemas.length + refusedSchemas.length
  expect(schemas).toBeGreaterThan(100)
  expect(schemas + hostilePatterns.length + refusedPatterns.length).toBeGreaterThan(190)
  const names = [...takenSchemas, ...refusedSchemas].map(([what]) => what)
  expect(new Set(names).size).toBe(names.length)
})

for (const [what, schema, payload] of takenSchemas) {
  Deno.test(`the schema with ${what} takes at most what a payload of its size may take`, () => {
    expect(checkSchema(schema)).toBeUndefined()
    for (const size of [100, 4000, 20_000]) {
      const value = payload(size)
      const steps = stepsFor(JSON.stringify(value).length)
      const found = findMismatch(schema, value, steps)
      expect(steps.taken).toBeLessThanOrEqual(steps.most)
      if (found?.kind !== 'steps') continue
      expect(found).toEqual({
        kind: 'steps',
        path: '',
        detail: expect.stringMatching(
          /^(?:takes more than [\d,]+ steps|goes through more than 1000)/,
        ),
      })
    }
  })
}

for (const [what, schema, field, problem] of refusedSchemas) {
  Deno.test(`a schema with ${what} is refused when it is saved`, () => {
    // SAFETY: some are no schemas, which is what the test is about.
    expect(() => checkSchema(schema as PayloadSchema)).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        field: expect.stringContaining(field),
        message: expect.stringMatching(problem),
        remedy: expect.stringMatching(/\w{4}/),
      }),
    )
  })
}
