/** Schemas that try to take long, by the keyword that they try it with: further ones than `_hostile_schemas.ts` has. */

import {
  chain,
  deep,
  type Hostile,
  list,
  longText,
  type Make,
  members,
  named,
  nest,
  numbers,
  texts,
} from './_schema_parts.ts'

const lines: Make = (size) => list(size / 8, (at) => ({ id: at, tags: ['a', 'b', 'c'] }))
/** A tree of objects: `width` members at each of `levels` levels. */
const tree = (levels: number, width: number): unknown => {
  return levels === 0 ? 1 : named(width, () => tree(levels - 1, width))
}
const self = { $ref: '#' }

/** Schemas that are taken. */
export const takenKeywords: Hostile[] = [
  // Combinators within each other.
  ['8 x 8 x 8 x 8 branches', {
    // SAFETY: an object, because there are levels.
    items: nest(4, { const: -1 }, (inner) => ({ anyOf: list(8, () => structuredClone(inner)) })),
  }, numbers],
  ['anyOf of oneOf of allOf', {
    items: {
      anyOf: list(12, () => ({
        oneOf: list(12, () => ({ allOf: list(12, (at) => ({ minimum: at })) })),
      })),
    },
  }, numbers],
  ['30 nots within each other', {
    items: nest(30, { type: 'number' }, (inner) => ({ not: inner })),
  }, numbers],
  ['30 conditions within each other', {
    items: nest(30, true, (inner) => ({ if: { minimum: 5 }, then: inner, else: false })),
  }, numbers],
  ['a chain of 900 else', {
    items: { $ref: '#/$defs/p0' },
    $defs: named(900, (at) => {
      return at === 899 ? true : { if: { const: -1 - at }, else: { $ref: `#/$defs/p${at + 1}` } }
    }),
  }, numbers],
  ['oneOf that all fit', { items: { oneOf: list(500, () => ({ minimum: 0 })) } }, numbers],
  ['oneOf of which only the last one fits', {
    items: { oneOf: [...list(500, () => false), true] },
  }, numbers],
  ['branches that differ in their last member', {
    items: {
      anyOf: list(
        60,
        (at) => ({ properties: { id: true, tags: true, z: { const: at } }, required: ['z'] }),
      ),
    },
  }, lines],
  ['a discriminator without a mapping', {
    items: {
      oneOf: list(200, (at) => ({ properties: { id: { const: at } }, required: ['id', 'tags'] })),
    },
  }, lines],
  ['a not of 1,000 branches', {
    items: { not: { anyOf: list(1000, (at) => ({ const: -1 - at })) } },
  }, numbers],
  // References.
  [
    '$dynamicRef at each level',
    { properties: { a: { $dynamicRef: '#' } }, required: ['a'] },
    () => deep(60),
  ],
  ['$recursiveRef at each level', { properties: { a: { $recursiveRef: '#' } } }, () => deep(60)],
  ['an anchor that is asked three times', {
    allOf: list(3, () => ({ properties: { a: { $ref: '#me' } } })),
    $anchor: 'me',
  }, () => deep(60)],
  ['pointers with escapes', {
    items: { allOf: list(400, (at) => ({ $ref: `#/$defs/a~1~0%20${at}` })) },
    $defs: Object.fromEntries(
      list(400, (at) => [`a/~ ${at}`, { minimum: 0 }]) as [string, unknown][],
    ),
  }, numbers],
  ['400 schemas with an $id', {
    items: {
      allOf: list(
        400,
        (at) => ({ $id: `https://example.com/${at}`, $ref: '#/$defs/a', $defs: { a: true } }),
      ),
    },
  }, numbers],
  ['a ring of 40 schemas for each level', {
    $ref: '#/$defs/p0',
    $defs: named(40, (at) => ({ properties: { a: { $ref: `#/$defs/p${(at + 1) % 40}` } } })),
  }, () => deep(60)],
  ['two trees that ask each other', {
    $ref: '#/$defs/a',
    $defs: {
      a: { additionalProperties: { allOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/b' }] } },
      b: { additionalProperties: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } },
    },
  }, () => tree(8, 2)],
  // A payload that is as wide as it is deep.
  ['a tree through additionalProperties', { additionalProperties: self }, () => tree(6, 5)],
  [
    'a tree through patternProperties',
    { patternProperties: { '^p': self, '\\d$': self } },
    () => tree(6, 4),
  ],
  [
    'a tree through prefixItems',
    { prefixItems: list(4, () => self) },
    () => nest(6, 1, (inner) => list(4, () => inner)),
  ],
  [
    'a tree through contains',
    { contains: self },
    () => nest(6, 'a', (inner) => list(4, () => inner)),
  ],
  ['a tree through items and contains', {
    items: self,
    contains: self,
    minContains: 1,
  }, () => nest(6, [1], (inner) => list(4, () => inner))],
  ['a tree through unevaluatedProperties', { unevaluatedProperties: self }, () => tree(6, 5)],
  ['a tree through dependentSchemas', {
    dependentSchemas: { p0: { additionalProperties: self }, p1: { additionalProperties: self } },
  }, () => tree(7, 3)],
  // Equal values.
  ['an enum of long texts with one beginning', {
    items: { enum: list(50, (at) => 'a'.repeat(1000) + at) },
  }, (n) => list(n / 100, () => 'a'.repeat(1000))],
  [
    'an enum of deep values',
    { items: { enum: list(300, (at) => deep(20, at)) } },
    (n) => list(n / 40, () => deep(20, -1)),
  ],
  ['an enum of all types', {
    items: { enum: list(4000, (at) => [at, `${at}`, at % 2 === 0, null, [at], { at }][at % 6]) },
  }, (n) => list(n, (at) => [at, `${at}`, true, null, [at], { at }][at % 6])],
  [
    '100 enums of one list',
    { items: { allOf: list(100, () => ({ enum: numbers(100) })) } },
    numbers,
  ],
  ['a const of many names', { const: members(4000) }, members],
  [
    'a const that differs at its end',
    { const: [...list(4000, () => 0), 1] },
    (n) => list(n, () => 0),
  ],
  [
    'unique objects whose members change places',
    { uniqueItems: true },
    (n) =>
      list(n / 20, (at) => {
        return Object.fromEntries(
          list(10, (place) => [`k${(place + at) % 10}`, at]) as [string, unknown][],
        )
      }),
  ],
  [
    'unique texts of one length',
    { uniqueItems: true },
    (n) => list(n / 20, (at) => String(at).padStart(20, '0')),
  ],
  ['unique lists of unique lists', {
    uniqueItems: true,
    items: { uniqueItems: true, items: { uniqueItems: true } },
  }, (n) => {
    return list(
      n / 100,
      (at) => list(10, (place) => list(8, (last) => at * 1000 + place * 10 + last)),
    )
  }],
  [
    'numbers that are equal in other forms',
    { uniqueItems: true, items: { enum: [0, 1, 1e2] } },
    (n) => list(n, (at) => at + 0.0),
  ],
  // Names.
  ['names of every object', {
    properties: { constructor: { type: 'number' }, toString: true, valueOf: true },
    required: ['hasOwnProperty'],
    additionalProperties: false,
  }, members],
  ['propertyNames with a not and a format', {
    propertyNames: { not: { enum: texts(1000) }, format: 'uri-reference', maxLength: 100 },
  }, members],
  ['patterns for names of one letter', {
    patternProperties: Object.fromEntries(
      list(26, (at) => [`(${String.fromCharCode(97 + at)}|p)*$`, { type: 'number' }]) as [
        string,
        unknown,
      ][],
    ),
  }, members],
  [
    'a long name',
    { patternProperties: { '(a|aa)*b': true }, propertyNames: { maxLength: 10 } },
    (n) => ({ ['a'.repeat(n)]: 1 }),
  ],
  ['12 dependents of 500 names', {
    dependentRequired: named(12, () => list(500, (at) => `p${at}`)),
  }, members],
  ['dependents that each need the next one', {
    dependentRequired: named(1000, (at) => [`p${at + 1}`]),
  }, members],
  // What was evaluated.
  ['unevaluatedProperties after if', {
    if: { properties: { p0: { const: 0 } } },
    then: { patternProperties: { '[02468]$': true } },
    else: { patternProperties: { '[13579]$': true } },
    unevaluatedProperties: { type: 'number' },
  }, members],
  ['unevaluatedProperties after 200 dependentSchemas', {
    dependentSchemas: named(200, (at) => ({ properties: { [`p${at}`]: true } })),
    unevaluatedProperties: true,
  }, members],
  ['unevaluatedProperties at the end of a chain', {
    ...chain(200, (next) => ({ allOf: [next], properties: { p0: true } })),
    unevaluatedProperties: { minimum: 0 },
  }, members],
  ['unevaluatedItems after 100 prefixItems', {
    allOf: list(100, (at) => ({ prefixItems: list(at, () => true) })),
    unevaluatedItems: { type: 'number' },
  }, numbers],
  ['unevaluatedItems of each element', {
    items: { contains: { const: -1 }, minContains: 0, unevaluatedItems: { minimum: 0 } },
  }, (n) => {
    return list(n / 40, () => numbers(20))
  }],
  // Counts and numbers.
  [
    'contains at least as many as there are',
    { contains: { minimum: 0 }, minContains: 1e9 },
    numbers,
  ],
  ['contains none of a pattern', {
    contains: { pattern: '(v|\\d)*!' },
    minContains: 0,
    maxContains: 0,
  }, texts],
  [
    '200 divisors',
    { items: { allOf: list(200, (at) => ({ multipleOf: (at + 1) / 7 })) } },
    numbers,
  ],
  [
    'a divisor beyond all integers',
    { items: { multipleOf: 1e308 } },
    (n) => list(n, (at) => at * 1e300),
  ],
  ['the smallest divisor', { items: { multipleOf: 5e-324 } }, (n) => list(n, (at) => at + 0.1)],
  // Texts.
  ['the length of emoji', { maxLength: 10, minLength: 1e9 }, (n) => '👍🏽'.repeat(n / 4)],
  [
    '100 formats of one text',
    { allOf: list(100, () => ({ format: 'uri' })) },
    (n) => `http://a/${'b'.repeat(n)}`,
  ],
  ['formats that are not known', { allOf: list(500, (at) => ({ format: `x-${at}` })) }, longText],
  ['a pattern of alternatives for each letter', {
    pattern: `(?:${list(26, (at) => String.fromCharCode(97 + at)).join('|')}|\\w)*!`,
  }, longText],
  ['a pattern with conditions', { pattern: '^(?=(?:a|aa)*$)(?!.*b.*b)(?:a|a)*!' }, longText],
]
