/** What the schemas of event types cost, in steps: it is linear in the payload, or it is an error. */

import { expect } from '@std/expect'
import { CompiledSchemas } from '../../../functions/api/json_schema/cache.ts'
import { mapKey } from '../../../functions/api/json_schema/map_key.ts'
import { checkSchema, findMismatch, stepsFor } from '../../../functions/api/json_schema.ts'
import type { PayloadSchema } from '../../../functions/api/json_schema.ts'
import { takenKeywords } from './_hostile_keywords.ts'
import { refusedSchemas, takenSchemas } from './_hostile_schemas.ts'
import { refusedKeywords } from './_refused_keywords.ts'

const taken = [...takenSchemas, ...takenKeywords]
const refused = [...refusedSchemas, ...refusedKeywords]

Deno.test('the table has at least 150 hostile schemas, none of them twice', () => {
  expect(taken.length).toBeGreaterThanOrEqual(140)
  expect(taken.length + refused.length).toBeGreaterThanOrEqual(180)
  const names = [...taken, ...refused].map(([what]) => what)
  expect(new Set(names).size).toBe(names.length)
})

for (const [what, schema, payload] of taken) {
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

for (const [what, schema, field, problem] of refused) {
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

Deno.test('compiled schemas are kept up to the steps of compiling them, also those with an error', () => {
  const cache = new CompiledSchemas(1000)
  const schemas = [{ items: { items: {} } }, { not: {} }, { items: { not: {} } }]
  const work = (schema: Record<string, unknown>): number => {
    const steps = stepsFor(0)
    cache.read(schema, steps)
    return steps.compiled
  }
  // 100 steps for each schema, and one for each character.
  expect(schemas.map(work)).toEqual([322, 210, 320])
  expect(schemas.map(work)).toEqual([0, 0, 0])
  expect([work({ items: {} }), cache.size]).toEqual([212, 3])
  expect(schemas.toReversed().map(work)).toEqual([0, 0, 322])
  const errors = new CompiledSchemas()
  const wrong = { type: 'text' }
  for (const expected of [65_536, 0]) {
    const steps = stepsFor(0)
    expect(() => errors.read(wrong, steps)).toThrow('schema.type is not a type')
    expect(steps.compiled).toBe(expected)
  }
})

Deno.test('listing the members of an object takes steps for all of them, also if the first is invalid', () => {
  const payload = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`k${at}`, 1]))
  for (const keyword of ['propertyNames', 'additionalProperties', 'unevaluatedProperties']) {
    const steps = stepsFor(20_000)
    expect(findMismatch({ [keyword]: false }, payload, steps)).toMatchObject({ kind: 'payload' })
    expect([keyword, steps.taken]).toEqual([keyword, expect.closeTo(4000, -2)])
  }
})

for (
  const [what, schema, payload] of [
    ['required', { required: ['x'.repeat(1000)] }, {}],
    ['dependentRequired', { dependentRequired: { a: ['x'.repeat(1000)] } }, { a: 1 }],
  ] as const
) {
  Deno.test(`the text for a name that ${what} misses is short, and is made with the schema`, () => {
    const find = (): unknown => findMismatch(schema, payload, stepsFor(1))
    const expected = { kind: 'payload', path: '', detail: `"${'x'.repeat(199)}… is missing` }
    expect(find()).toEqual(expected)
    const { stringify } = JSON
    let calls = 0
    JSON.stringify = new Proxy(stringify, {
      apply: (make, self, args) => {
        calls++
        return Reflect.apply(make, self, args)
      },
    })
    try {
      find()
    } finally {
      JSON.stringify = stringify
    }
    expect(calls).toBe(0)
  })
}

Deno.test('no key of a map is an integer, which the engine would hash by its value alone', () => {
  const texts = ['', '0', '4096', '8192', '#4096', '##', '-1', '1.5', 'a', '"4096"', '__proto__']
  const keys = texts.map(mapKey)
  expect(keys.filter((key) => /^\d/.test(key))).toEqual([])
  expect(new Set(keys).size).toBe(texts.length)
})

/** The keys that a Map or a Set gets while `work` runs. */
function keysDuring(work: () => void): unknown[] {
  const keys: unknown[] = []
  const set = Map.prototype.set
  const add = Set.prototype.add
  Map.prototype.set = function (key: unknown, value: unknown): Map<unknown, unknown> {
    keys.push(key)
    return set.call(this, key, value)
  }
  Set.prototype.add = function (value: unknown): Set<unknown> {
    keys.push(value)
    return add.call(this, value)
  }
  try {
    work()
  } finally {
    Map.prototype.set = set
    Set.prototype.add = add
  }
  return keys
}

const integers = [4096, 8192, 12_288]
for (
  const [what, schema, payload] of [
    ['equal elements', { uniqueItems: true }, integers],
    ['the values of an enum', { enum: integers }, 4096],
    ['the texts of an enum', { enum: integers.map(String) }, '4096'],
    ['the names of properties', { properties: { 4096: true, 8192: true } }, { 4096: 1 }],
    ['evaluated names', {
      properties: { 4096: true },
      unevaluatedProperties: false,
    }, { 4096: 1 }],
  ] as [string, PayloadSchema, unknown][]
) {
  Deno.test(`${what} that are integers are looked up by texts that are none`, () => {
    const keys = keysDuring(() => {
      expect(findMismatch(structuredClone(schema), payload, stepsFor(100))).toBe(null)
    })
    expect(keys).toContain('#4096')
    expect(keys.filter((key) => integers.includes(Number(key)))).toEqual([])
  })
}

Deno.test('texts that the engine hashes by their length take steps for the comparison with each other', () => {
  const texts = (length: number): string[] => {
    return Array.from({ length: 20 }, (_, at) => 'x'.repeat(length) + String(at).padStart(4, '0'))
  }
  const taken = (length: number): number => {
    const steps = stepsFor(20 * length)
    expect(findMismatch({ uniqueItems: true }, texts(length), steps)).toBe(null)
    return steps.taken
  }
  const each = (length: number): number => taken(length) / length
  expect(each(15_000)).toBeLessThan(1)
  // 190 pairs, and a step for 32 characters.
  expect(each(16_400)).toBeGreaterThan(190 / 32)
})

for (
  const [what, schema, payload, expected] of [
    ['a template', { format: 'uri-template' }, '{a}'.repeat(1000), 3000],
    ['a URI', { format: 'uri' }, `a:${'b'.repeat(2998)}`, 1500],
    ['a reference to a URI', { format: 'uri-reference' }, 'b'.repeat(3000), 1500],
    ['a URL', { format: 'url' }, `https://a.bc/${'d'.repeat(2987)}`, 1500],
    ['a host name', { format: 'hostname' }, `${'a.'.repeat(126)}a`, 126],
    ['a mailbox', { format: 'email' }, `a@${'a.'.repeat(126)}a`, 126],
    ['equal texts with escapes', { uniqueItems: true }, ['\u0001'.repeat(1000)], 5000],
    ['equal names with escapes', { const: [] }, { ['"'.repeat(1000)]: 1 }, 1000],
    ['numbers with far exponents', { multipleOf: 1e-300 }, 1e300, 600],
    ['a large number', { multipleOf: 3 }, 3e300, 32],
  ] as [string, PayloadSchema, unknown, number][]
) {
  Deno.test(`the check of ${what} takes as many steps as its work`, () => {
    const steps = stepsFor(10_000)
    findMismatch(schema, payload, steps)
    expect(steps.taken).toBeGreaterThanOrEqual(expected)
    expect(steps.taken).toBeLessThan(1.3 * expected + 100)
  })
}

Deno.test('a regular expression of more than 2,000 characters does not have the format regex', () => {
  const isFit = (length: number): boolean => {
    return findMismatch({ format: 'regex' }, 'a'.repeat(length), stepsFor(length)) === null
  }
  expect([2000, 2001].map(isFit)).toEqual([true, false])
})
