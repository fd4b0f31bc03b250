/** Patterns: they mean what ECMAScript means, and no text takes more than linear time. */

import { expect } from '@std/expect'
import fc from 'fast-check'
import { Pattern } from '../../../functions/api/pattern/pattern.ts'
import { countProperties, PatternError } from '../../../functions/api/pattern/syntax.ts'
import { Steps } from '../../../functions/api/steps.ts'
import { patternFamilies } from './_hostile_families.ts'
import { hostilePatterns, refusedPatterns } from './_hostile_patterns.ts'

const takenPatterns = [...hostilePatterns, ...Object.values(patternFamilies).flat()]

Deno.test('the table has at least 150 hostile patterns, none of them twice', () => {
  const sources = [...takenPatterns, ...refusedPatterns].map(([source]) => source)
  expect(new Set(sources).size).toBe(sources.length)
  expect(takenPatterns.length).toBeGreaterThanOrEqual(130)
  expect(sources.length).toBeGreaterThanOrEqual(180)
})

function stepsOf(pattern: Pattern, text: string): number {
  const steps = new Steps(Infinity)
  pattern.test(text, steps)
  return steps.taken
}

function errorOf(source: string): unknown {
  try {
    new Pattern(source)
    return null
  } catch (error) {
    return error
  }
}

for (const [source, text] of takenPatterns) {
  Deno.test(`the pattern ${source.slice(0, 60)} takes steps in proportion to its text`, () => {
    const pattern = new Pattern(source)
    const [short, middle, long] = [2000, 4000, 8000].map((n) => stepsOf(pattern, text(n)))
    if (short === undefined || middle === undefined || long === undefined) throw new Error()
    expect(text(8000).length).toBeGreaterThan(7900)
    // The first 1,000 characters may wake more and more states; from then on all cost the same.
    expect(long - middle).toBeLessThanOrEqual(2.01 * (middle - short) + pattern.states)
    // Each state is entered and left once for each character, at most.
    expect(long).toBeLessThanOrEqual((2 * pattern.states + 1) * 8001 + pattern.states)
  })
}

for (const [source, problem] of refusedPatterns) {
  Deno.test(`the pattern ${source.slice(0, 60)} is refused with a remedy`, () => {
    const error = errorOf(source)
    expect(error).toBeInstanceOf(PatternError)
    expect(error).toMatchObject({
      message: expect.stringMatching(problem),
      remedy: expect.stringMatching(/\w{4}/),
    })
  })
}

Deno.test('the pattern ^a*a*a*b$ takes at most 15 steps for each of 3,000 characters', () => {
  expect(stepsOf(new Pattern('^a*a*a*b$'), 'a'.repeat(3000))).toBeLessThan(15 * 3000 + 20)
})

Deno.test('a pattern stops where its steps end', () => {
  const pattern = new Pattern('(a|aa)*b')
  expect(() => pattern.test('a'.repeat(1000), new Steps(1000))).toThrow(
    'takes more than 1,000 steps',
  )
})

/** Pieces of patterns: characters, classes, escapes, assertions and groups. */
const one = fc.constantFrom(
  ...['a', 'b', 'é', '😀', '.', '\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '[a-c]', '[^a]', '[]'],
  ...['[^]', '[\\]a\\-]', '\\u0061', '\\u{62}', '\\uD83D\\uDE00', '\\x61', '\\cJ', '\\n', '\\.'],
  ...['\\p{L}', '\\P{Lu}', '[\\p{N}_]', '\\0', '\\/', '-'],
)
const quantity = fc.constantFrom(
  '',
  '',
  '',
  '*',
  '+',
  '?',
  '{2}',
  '{0,2}',
  '{1,}',
  '*?',
  '{0}',
  '{2,3}?',
)
/** A pattern, and at most how many ways a backtracking engine tries at one place of a text of 8 characters. */
interface Tried {
  source: string
  ways: number
}

/** The most repetitions that can take part in a match of 8 characters, which are all for a number. */
const mostTimes: Record<string, number> = {
  ...{ '': 1, '?': 1, '{0}': 0, '{2}': 2, '{0,2}': 2, '{2,3}?': 3 },
  ...{ '*': 9, '+': 9, '{1,}': 9, '*?': 9 },
}

function repeated({ source, ways }: Tried, times: string): Tried {
  let sum = 1
  for (let n = 1; n <= (mostTimes[times] ?? NaN); n++) sum += ways ** n
  return { source: source + times, ways: sum }
}

const { choice: triedPattern } = fc.letrec<{ choice: Tried; sequence: Tried; part: Tried }>((
  tie,
) => ({
  choice: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map((all) => ({
    source: all.map(({ source }) => source).join('|'),
    ways: all.reduce((sum, { ways }) => sum + ways, 0),
  })),
  sequence: fc.array(tie('part'), { maxLength: 4 }).map((all) => ({
    source: all.map(({ source }) => source).join(''),
    ways: all.reduce((product, { ways }) => product * ways, 1),
  })),
  part: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.tuple(one, quantity).map(([source, times]) => repeated({ source, ways: 1 }, times)),
    fc.constantFrom('^', '$', '\\b', '\\B').map((source) => ({ source, ways: 1 })),
    fc.tuple(fc.constantFrom('(', '(?:', '(?<x>'), tie('choice'), quantity)
      .map(([open, { source, ways }, times]) =>
        repeated({ source: `${open}${source})`, ways }, times)
      ),
  ),
}))
const triedCondition = fc.tuple(fc.constantFrom('=', '!'), triedPattern, triedPattern)
  .map(([sign, ahead, rest]) => ({
    source: `^(?${sign}${ahead.source})(?:${rest.source})`,
    ways: ahead.ways * rest.ways,
  }))
const someText = fc.array(
  fc.constantFrom(
    'a',
    'b',
    'c',
    'B',
    '1',
    '_',
    ' ',
    '.',
    '\n',
    '\u2028',
    'é',
    '😀',
    '\ud83d',
    ']',
    '-',
  ),
  { maxLength: 8 },
).map((all) => all.join(''))

Deno.test('a pattern matches what the regular expression of ECMAScript matches', () => {
  let compared = 0
  fc.assert(
    fc.property(
      fc.oneof(triedPattern, triedCondition),
      fc.array(someText, { minLength: 5, maxLength: 5 }),
      ({ source, ways }, texts) => {
        // The regular expressions of V8 would try each of these ways, for hours.
        if (ways > 1e7) return
        const native = compile(source)
        if (native === null || source.length > 200 || countProperties(source) > 20) return
        if (isMisreadByV8(source)) return
        const pattern = new Pattern(source)
        for (const text of texts) {
          // V8 finds \B also between the two surrogates of a character, where the standard does not look.
          if (source.includes('\\B') && /[\u{10000}-\u{10ffff}]/u.test(text)) continue
          compared++
          expect([source, text, pattern.test(text, new Steps(Infinity))])
            .toEqual([source, text, native.test(text)])
        }
      },
    ),
    { numRuns: 4000 },
  )
  expect(compared).toBeGreaterThan(5000)
})

/** V8 15.0 finds nothing of `(?:[^]*?a|)^` in an empty text, in which the second branch matches. */
function isMisreadByV8(source: string): boolean {
  const withoutClasses = source.replaceAll(/\[\^?(?:[^\]\\]|\\.)*\]/g, '.')
  return source.includes('*?') && withoutClasses.lastIndexOf('^') > 0
}

/** Null for a pattern with the same name twice. */
function compile(source: string): RegExp | null {
  try {
    return new RegExp(source, 'u')
  } catch {
    return null
  }
}
