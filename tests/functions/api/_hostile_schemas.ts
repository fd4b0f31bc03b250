/** Schemas that try to take long, each with payloads of any size that make them. */

import type { PayloadSchema } from '../../../functions/api/json_schema.ts'
import {
  deep,
  type Hostile,
  list,
  longText,
  type Make,
  members,
  named,
  nest,
  numbers,
  type Refused,
  texts,
} from './_schema_parts.ts'

const objects: Make = (size) => list(size / 4, (at) => ({ a: at, b: `${at}`, c: null }))
const deepList = (levels: number): unknown => levels === 0 ? 1 : [deepList(levels - 1)]
const never = { not: {} }
/** Each of `count` parts leads to the next one `times` times. */
const forks = (count: number, times: number, by: string): PayloadSchema => ({
  $ref: '#/$defs/p0',
  $defs: named(count, (at) => {
    if (at === count - 1) return true
    return { [by]: Array(times).fill({ $ref: `#/$defs/p${at + 1}` }) }
  }),
})

/** Schemas that are taken. What they take is counted for payloads of several sizes. */
export const takenSchemas: Hostile[] = [
  ['800 branches of anyOf', { items: { anyOf: list(800, (at) => ({ const: `x${at}` })) } }, texts],
  ['800 branches of oneOf', { items: { oneOf: list(800, (at) => ({ const: `v${at}` })) } }, texts],
  ['800 branches of allOf', { items: { allOf: list(800, () => ({ type: 'number' })) } }, numbers],
  ['800 nots', { items: { allOf: list(800, (at) => ({ not: { const: -at - 1 } })) } }, numbers],
  ['800 conditions', {
    items: { allOf: list(800, (at) => ({ if: { const: at }, then: { type: 'number' } })) },
  }, numbers],
  ['5,000 true branches', { items: { allOf: Array(5000).fill(true) } }, numbers],
  ['an enum of 8,000 numbers', { items: { enum: numbers(8000) } }, numbers],
  ['an enum of 5,000 texts', { items: { enum: texts(5000) } }, texts],
  ['an enum of objects', { items: { enum: objects(4000) } }, objects],
  ['a large const', { items: { const: objects(2000) } }, (n) => list(n / 100, () => objects(100))],
  ['the const of the whole', { const: numbers(5000) }, numbers],
  ['unique numbers', { uniqueItems: true }, numbers],
  ['unique texts', { uniqueItems: true }, texts],
  ['unique objects', { uniqueItems: true }, objects],
  ['unique lists at each level', {
    $ref: '#/$defs/u',
    $defs: { u: { uniqueItems: true, items: { $ref: '#/$defs/u' } } },
  }, (n) => list(n / 40, () => deepList(20))],
  ['40 times unique', { allOf: Array(40).fill({ uniqueItems: true }) }, numbers],
  ['5,000 required names', { items: { required: texts(5000) } }, objects],
  ['5,000 required names that are there', { required: Object.keys(named(5000, () => 1)) }, members],
  ['5,000 properties', { items: { properties: named(5000, () => true) } }, objects],
  ['4,900 properties that are there', { properties: named(4900, () => ({})) }, members],
  ['additionalProperties', { additionalProperties: { type: 'number', minimum: 0 } }, members],
  ['300 patternProperties', {
    patternProperties: Object.fromEntries(texts(300).map((text) => [`^${text}x`, true])),
  }, members],
  ['300 patternProperties that all match', {
    patternProperties: Object.fromEntries(texts(300).map((_, at) => [`p|q${at}`, true])),
  }, members],
  ['patternProperties under items', {
    items: { patternProperties: { '(a|b)*c': true, '(a|ab)*': true } },
  }, objects],
  ['propertyNames with a pattern', { propertyNames: { pattern: '^(p|p\\d)*\\d*$' } }, members],
  ['propertyNames with 500 branches', {
    propertyNames: { anyOf: list(500, (at) => ({ const: `q${at}` })) },
  }, members],
  ['1,000 dependentRequired', { items: { dependentRequired: named(1000, () => ['x']) } }, objects],
  ['1,000 dependentSchemas', { items: { dependentSchemas: named(1000, () => true) } }, objects],
  ['1,000 dependencies', { items: { dependencies: named(1000, () => true) } }, objects],
  [
    'dependentSchemas of all',
    { dependentSchemas: named(500, () => ({ minProperties: 1 })) },
    members,
  ],
  ['minProperties again and again', { allOf: Array(500).fill({ minProperties: 1 }) }, members],
  ['contains that nothing fits', { contains: { const: -1 } }, numbers],
  ['100 contains', { allOf: list(100, (at) => ({ contains: { const: at } })) }, numbers],
  ['1,000 contains', { allOf: list(1000, (at) => ({ contains: { const: at } })) }, numbers],
  ['contains within contains', {
    contains: { contains: { contains: { const: -1 } } },
  }, (n) => list(n / 64, () => list(8, () => numbers(8)))],
  ['maxContains', { contains: { minimum: 0 }, maxContains: 1e9 }, numbers],
  ['2,000 prefixItems', { prefixItems: Array(2000).fill({ type: 'number' }) }, numbers],
  [
    'items after prefixItems',
    { prefixItems: [true], items: { minimum: 0, multipleOf: 1 } },
    numbers,
  ],
  ['multipleOf of tiny fractions', { items: { multipleOf: 1e-300 } }, (n) => list(n, () => 1e300)],
  ['multipleOf of odd fractions', { items: { multipleOf: 0.123456789 } }, numbers],
  ['all bounds', {
    items: { minimum: 0, maximum: 1e9, exclusiveMinimum: -1, exclusiveMaximum: 1e9, multipleOf: 1 },
  }, numbers],
  ['minLength of long texts', { minLength: 1e9 }, longText],
  ['500 lengths of a long text', { allOf: Array(500).fill({ minLength: 1 }) }, longText],
  ['a pattern over a long text', { pattern: '^a*a*a*b$' }, longText],
  ['100 patterns over a long text', {
    allOf: list(100, (at) => ({ pattern: `(a|a)*a{${at}}$` })),
  }, longText],
  ['a pattern of 1,000 states', { pattern: 'a{0,900}b' }, longText],
  ['a pattern for each text', { items: { pattern: '(v|\\d)*x' } }, texts],
  ['a pattern of 900 states for each text', { items: { pattern: 'v{0,450}x{0,400}y' } }, texts],
  ['a property of Unicode', { pattern: '(\\p{L}|\\p{Lu})*\\p{N}' }, (n) => 'é'.repeat(n)],
  ['unevaluatedProperties', {
    allOf: list(100, (at) => ({ properties: { [`p${at}`]: true } })),
    unevaluatedProperties: { type: 'number' },
  }, members],
  ['unevaluatedProperties at 30 levels in place', {
    ...(function nest(levels: number): Record<string, unknown> {
      return levels === 0
        ? { additionalProperties: true }
        : { allOf: [nest(levels - 1)], unevaluatedProperties: false }
    })(30),
  }, members],
  ['unevaluatedProperties of 300 branches', {
    anyOf: list(300, () => ({ additionalProperties: true })),
    unevaluatedProperties: false,
  }, members],
  ['unevaluatedItems of 300 branches', {
    anyOf: list(300, () => ({ items: true })),
    unevaluatedItems: false,
  }, numbers],
  ['unevaluatedItems after contains', {
    contains: { minimum: 10 },
    unevaluatedItems: { type: 'number' },
  }, numbers],
  ['a tree', {
    $ref: '#/$defs/tree',
    $defs: { tree: { properties: { a: { $ref: '#/$defs/tree' } } } },
  }, () => deep(60)],
  ['a tree that is asked twice at each level', {
    allOf: Array(2).fill({ properties: { a: { $ref: '#' } } }),
  }, () => deep(60)],
  ['a tree that is asked by anyOf at each level', {
    anyOf: [{ properties: { a: { $ref: '#' } }, required: ['z'] }, {
      properties: { a: { $ref: '#' } },
      required: ['y'],
    }],
  }, () => deep(60)],
  ['a tree with a not at each level', {
    $ref: '#/$defs/n',
    $defs: { n: { not: { properties: { a: { $ref: '#/$defs/n' } }, required: ['a'] } } },
  }, () => deep(60)],
  ['a tree of lists that fork', {
    allOf: Array(3).fill({ items: { $ref: '#' } }),
  }, () => deepList(60)],
  ['mutual recursion', {
    $ref: '#/$defs/a',
    $defs: {
      a: { properties: { a: { $ref: '#/$defs/b' } }, anyOf: [{ $ref: '#/$defs/c' }, true] },
      b: { properties: { a: { $ref: '#/$defs/a' } }, anyOf: [{ $ref: '#/$defs/c' }, true] },
      c: { properties: { a: { $ref: '#/$defs/a' } }, ...never },
    },
  }, () => deep(60)],
  ['a chain of 900 references', {
    $ref: '#/$defs/p0',
    $defs: named(900, (at) => at === 899 ? {} : { $ref: `#/$defs/p${at + 1}` }),
  }, numbers],
  ['a chain of 1,500 references', {
    $ref: '#/$defs/p0',
    $defs: named(1500, (at) => at === 1499 ? {} : { $ref: `#/$defs/p${at + 1}` }),
  }, numbers],
  ['a chain of 30 references for each level of the payload', {
    $ref: '#/$defs/p0',
    $defs: named(30, (at) => {
      return at === 29 ? { properties: { a: { $ref: '#' } } } : { $ref: `#/$defs/p${at + 1}` }
    }),
  }, () => deep(60)],
  ['references that fork 12 times', forks(12, 2, 'allOf'), numbers],
  ['references that fork 12 times, for each element', {
    items: { $ref: '#/$defs/p0' },
    $defs: (forks(12, 2, 'allOf') as { $defs: unknown }).$defs,
  }, numbers],
  ...['date', 'time', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri'].map(
    (format): Hostile => [`the format ${format}`, { format }, longText],
  ),
  ['the format uri of a path', { format: 'uri' }, (n) => `http://x/${'%41/a'.repeat(n / 5)}`],
  ['the format uri-reference', { format: 'uri-reference' }, (n) => '/a%'.repeat(n / 3)],
  ['the format uri-template', { format: 'uri-template' }, (n) => '{a.b,c}'.repeat(n / 7)],
  ['an open template', { format: 'uri-template' }, (n) => '{'.repeat(n)],
  ['the format url', { format: 'url' }, (n) => `http://${'a-'.repeat(n / 2)}!`],
  ['a url of one label', { format: 'url' }, (n) => `http://${'a'.repeat(n)}_`],
  ['a url with a user', { format: 'url' }, (n) => `http://${':@'.repeat(n / 2)}`],
  ['an address of colons', { format: 'ipv6' }, (n) => ':'.repeat(n)],
  ['a mailbox of quotes', { format: 'email' }, (n) => `"${'\\"'.repeat(n / 2)}"@x`],
  ['a host of hyphens', { format: 'hostname' }, (n) => 'a-'.repeat(n / 2)],
  ['a duration of digits', { format: 'duration' }, (n) => `P${'1'.repeat(n)}`],
  ['a time of digits', { format: 'time' }, (n) => `12:00:00.${'1'.repeat(n)}`],
  ['the format json-pointer', { format: 'json-pointer' }, (n) => '/~1'.repeat(n / 3)],
  ['a relative pointer', { format: 'relative-json-pointer' }, (n) => '1'.repeat(n)],
  ['a regex of properties', { format: 'regex' }, (n) => '\\p{L}'.repeat(n / 5)],
  ['a regex of groups', { format: 'regex' }, (n) => '('.repeat(n)],
  ['a regex with a large class', { format: 'regex' }, (n) => {
    return `[${list(n, (at) => String.fromCodePoint(0x100 + (at * 7919) % 50_000)).join('')}]`
  }],
]

/** Schemas that are refused when they are saved, with the field and the problem. */
export const refusedSchemas: Refused[] = [
  ['references that fork 20 times', forks(20, 2, 'allOf'), 'schema', /100,000 steps/],
  ['references that fork 40 times', forks(40, 2, 'anyOf'), 'schema', /100,000 steps/],
  ['references that fork tenfold', forks(7, 10, 'oneOf'), 'schema', /100,000 steps/],
  [
    '300 times 400 branches',
    {
      allOf: Array(300).fill({ $ref: '#/$defs/a' }),
      $defs: { a: { anyOf: Array(400).fill({ type: 'string' }) } },
    },
    'schema',
    /100,000 steps/,
  ],
  [
    'conditions that fork',
    {
      $ref: '#/$defs/p0',
      $defs: named(20, (at) => {
        const next = { $ref: `#/$defs/p${at + 1}` }
        return at === 19 ? true : { if: next, then: next, else: next }
      }),
    },
    'schema',
    /100,000 steps/,
  ],
  [
    'nots that fork',
    {
      $ref: '#/$defs/p0',
      $defs: named(20, (at) => {
        const next = { $ref: `#/$defs/p${at + 1}` }
        return at === 19 ? true : { not: next, allOf: [next], dependentSchemas: { a: next } }
      }),
    },
    'schema',
    /100,000 steps/,
  ],
  ['a reference to itself', { $ref: '#' }, 'schema', /refers to itself/],
  [
    'a circle of references',
    {
      $ref: '#/$defs/a',
      $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
    },
    'schema.$defs.a',
    /refers to itself/,
  ],
  ['a circle through anyOf', { anyOf: [{ $ref: '#' }, true] }, 'schema', /refers to itself/],
  ['a circle through not', { not: { $ref: '#' } }, 'schema', /refers to itself/],
  ['a circle through if', { if: { $ref: '#' } }, 'schema', /refers to itself/],
  ['a circle through then', { if: true, then: { $ref: '#' } }, 'schema', /refers to itself/],
  [
    'a circle through an anchor',
    {
      $anchor: 'me',
      allOf: [{ $ref: '#me' }],
    },
    'schema',
    /refers to itself/,
  ],
  [
    'a circle through dependentSchemas',
    {
      dependentSchemas: { a: { $ref: '#' } },
    },
    'schema',
    /refers to itself/,
  ],
  [
    'patterns of many states',
    {
      allOf: list(10, (at) => ({ pattern: `a{${1500 + at}}` })),
    },
    'schema.allOf.3.pattern',
    /larger than 10000 states/,
  ],
  [
    'many properties of Unicode',
    {
      allOf: list(10, (at) => ({ pattern: `${'\\p{L}'.repeat(19)}${at}` })),
    },
    'schema.allOf.4.pattern',
    /larger than 10000 states/,
  ],
  [
    '5,001 schemas',
    { anyOf: list(5000, () => ({})) },
    'schema.anyOf.4999',
    /more than 5,000 schemas/,
  ],
  [
    '33 levels of schemas',
    nest(34, true, (inner) => ({ items: inner })),
    'schema',
    /is nested more/,
  ],
  ['65 levels of data', { const: nest(65, true, (inner) => [inner]) }, 'schema', /64 levels/],
  ['20,000 levels of data', { const: nestLong(20_000, (inner) => [inner]) }, 'schema', /64 levels/],
  ['65,537 characters', { description: 'x'.repeat(65_519) }, 'schema', /65536 characters/],
]

/** As nest(), for more levels than the stack has. */
function nestLong(count: number, wrap: (inner: unknown) => unknown): unknown {
  let inner: unknown = true
  for (let level = 0; level < count; level++) inner = wrap(inner)
  return inner
}
