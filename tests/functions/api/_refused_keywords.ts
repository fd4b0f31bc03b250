/** Schemas that are refused when they are saved, by keyword: further ones than `_hostile_schemas.ts` has. */

import type { PayloadSchema } from '../../../functions/api/json_schema.ts'
import { chain, named, type Refused } from './_schema_parts.ts'

const self = { $ref: '#' }

const fork = (keyword: string): PayloadSchema => {
  return chain(
    22,
    (next) =>
      keyword === 'dependentSchemas'
        ? { [keyword]: { a: next, b: next } }
        : { [keyword]: [next, next] },
  )
}
const circle = (keyword: string, value: unknown): [unknown, string, RegExp] => {
  return [{ [keyword]: value }, 'schema', /refers to itself/]
}

/** Schemas that are refused when they are saved, with the field and the problem. */
export const refusedKeywords: Refused[] = [
  ['dependentSchemas that fork', fork('dependentSchemas'), 'schema', /100,000 steps/],
  [
    'dependencies that fork',
    chain(22, (next) => ({ dependencies: { a: next, b: next } })),
    'schema',
    /100,000 steps/,
  ],
  ['oneOf that forks', fork('oneOf'), 'schema', /100,000 steps/],
  [
    '$ref beside $dynamicRef that forks',
    chain(22, ({ $ref }) => ({ $ref, $dynamicRef: $ref })),
    'schema',
    /100,000 steps/,
  ],
  ['a circle of $dynamicRef', ...circle('$dynamicRef', '#')],
  ['a circle of $recursiveRef', ...circle('$recursiveRef', '#')],
  ['a circle through oneOf', ...circle('oneOf', [true, self])],
  ['a circle through dependencies', ...circle('dependencies', { a: self })],
  [
    'a circle of 300 schemas',
    {
      $ref: '#/$defs/p0',
      $defs: named(300, (at) => ({ allOf: [{ $ref: `#/$defs/p${(at + 1) % 300}` }] })),
    },
    'schema',
    /refers to itself/,
  ],
  [
    'a circle that nothing refers to',
    { $defs: { a: { not: { $ref: '#/$defs/a' } } } },
    'schema.$defs.a',
    /refers to itself/,
  ],
  [
    'a reference to another server',
    { $ref: 'http://169.254.169.254/schema' },
    'schema.$ref',
    /outside of the schema/,
  ],
  [
    'a reference to a file',
    { items: { $ref: 'file:///etc/passwd' } },
    'schema.items.$ref',
    /outside of the schema/,
  ],
  [
    'a reference to a member of every object',
    { $ref: '#/__proto__' },
    'schema.$ref',
    /names no part/,
  ],
  [
    'a reference to a function',
    { $ref: '#/$defs/constructor', $defs: {} },
    'schema.$ref',
    /names no part/,
  ],
  ['a reference to a number', { $ref: '#/minimum', minimum: 1 }, 'schema.$ref', /names no part/],
  ['a reference that cannot be decoded', { $ref: '#/%E0%A4%A' }, 'schema.$ref', /names no part/],
  ['a reference that is no text', { $ref: { $ref: '#' } }, 'schema.$ref', /outside of the schema/],
  [
    'patternProperties that refer back',
    { patternProperties: { '(a)\\1': true } },
    'schema.patternProperties',
    /refers back/,
  ],
  [
    'propertyNames that look behind',
    { propertyNames: { pattern: '(?<=a)b' } },
    'schema.propertyNames.pattern',
    /looks behind/,
  ],
  [
    'a pattern of too many states for each member',
    { additionalProperties: { pattern: '(a{50}){50}' } },
    'pattern',
    /2000 states/,
  ],
  ['a divisor of zero', { multipleOf: 0 }, 'schema.multipleOf', /is 0/],
  ['a length below zero', { minLength: -1 }, 'schema.minLength', /is -1/],
  ['an enum that is no list', { enum: { length: 1e9 } }, 'schema.enum', /not an array/],
  ['anyOf that is no list', { anyOf: { length: 1e9, 0: true } }, 'schema.anyOf', /not an array/],
  [
    'required names that are no texts',
    { required: [{ toString: 'a' }] },
    'schema.required',
    /not an array of names/,
  ],
  [
    'a type that is a member of every object',
    { type: ['constructor'] },
    'schema.type',
    /not a type/,
  ],
]
