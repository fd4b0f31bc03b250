/** The list of mutants fits the code that is there now: otherwise a run before a release says nothing. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { areas } from '../mutants/list/mod.ts'
import { type Mutant, mutate, namedTest } from '../mutants/mutant.ts'
import { judge, type TestOutcome, type Verdict } from '../mutants/outcome.ts'
import { type Judged, report } from '../mutants/report.ts'
import { splitStatements } from '../../supabase/local/schema/statements.ts'
import { changedStatements } from '../mutants/statements.ts'

const all = areas.flatMap(({ name, mutants }) =>
  mutants.map((mutant) => ({ name: `${name}: ${mutant.file}: ${mutant.find}`, mutant }))
)

/** These compare the schema with a committed copy: they notice every change, and understand none. */
const drift = /^(sql\/schema\/(in_sync|comparison)|project\/db_build|e2e\/cli_)/

const texts = new Map<string, string>()
for (const { mutant: { file } } of all) {
  if (!texts.has(file)) texts.set(file, await Deno.readTextFile(join(projectRoot, file)))
}

/** Of all mutants, those of which `problemOf` has something to say. */
function problems(problemOf: (mutant: Mutant) => string | null): string[] {
  return all.flatMap(({ name, mutant }) => {
    const problem = problemOf(mutant)
    return problem === null ? [] : [`${name}: ${problem}`]
  })
}

Deno.test('there are at least 150 mutants, no two of which are the same', () => {
  expect(all.length).toBeGreaterThanOrEqual(150)
  const keys = all.map(({ mutant: { file, find, replace } }) =>
    JSON.stringify([file, find, replace])
  )
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([])
})

Deno.test("each mutant's text occurs once in its file, and its change is one", () => {
  expect(problems((mutant) => {
    const mutated = mutate(texts.get(mutant.file) ?? '', mutant)
    return mutated.ok ? null : mutated.reason
  })).toEqual([])
})

Deno.test('each mutant of a SQL file is a statement that a database with the schema takes', () => {
  expect(problems((mutant) => {
    if (!mutant.file.endsWith('.sql') || mutant.sql !== undefined) return null
    const before = texts.get(mutant.file) ?? ''
    const mutated = mutate(before, mutant)
    if (!mutated.ok) return mutated.reason
    return changedStatements(before, mutated.text) === null ? 'it needs `sql`' : null
  })).toEqual([])
})

Deno.test('each mutant names tests that are there, and none that only compares the schema', async () => {
  const paths = new Set(
    all.flatMap(({ mutant }) => mutant.tests.map((entry) => namedTest(entry).path)),
  )
  const missing: string[] = []
  for (const path of paths) {
    const found = await Deno.stat(join(projectRoot, path)).catch(() => null)
    if (found === null) missing.push(path)
  }
  expect(missing).toEqual([])
  expect(problems(({ tests }) => {
    if (tests.length === 0) return 'it names no test'
    return tests.find((entry) => drift.test(entry)) ?? null
  })).toEqual([])
})

Deno.test('each mutant says what goes wrong, and each that cannot be noticed says why', () => {
  expect(
    problems(({ why, equivalent = 'it is noticed' }) =>
      why.length > 15 && equivalent.length > 10 ? null : 'it says too little'
    ),
  ).toEqual([])
})

Deno.test('mutate() changes the one place, and refuses none and two', () => {
  expect(mutate('a b', { find: 'b', replace: 'c' })).toEqual({ ok: true, text: 'a c' })
  for (
    const [text, find, replace] of [['a', 'b', 'c'], ['a a', 'a', 'c'], ['a', 'a', 'a']] as const
  ) {
    expect(mutate(text, { find, replace })).toEqual({ ok: false, reason: expect.any(String) })
  }
})

Deno.test('splitStatements() knows comments, strings and dollar quotes', () => {
  expect(splitStatements(`-- a; b\nselect ';' , $x$ ; $x$;\n\nselect 2; -- the end`)).toEqual([
    `-- a; b\nselect ';' , $x$ ; $x$`,
    'select 2',
    '-- the end',
  ])
})

Deno.test('changedStatements() makes what has changed anew, and nothing else', () => {
  const rest = 'select 1;'
  const of = (before: string, after: string): string | null =>
    changedStatements(`${rest}\n${before};`, `${rest}\n${after};`)
  expect(
    of(
      '-- why\n\n-- how\ncreate function f() as $$ a; $$',
      '-- why\n\n-- how\ncreate function f() as $$ b; $$',
    ),
  )
    .toBe('create or replace function f() as $$ b; $$;\n')
  expect(of('create view v as select 1', 'create view v as select 2'))
    .toBe('create or replace view v as select 2;\n')
  expect(of('grant select on t to a', 'grant select on t to a, b')).toBe(
    'grant select on t to a, b;\n',
  )
  expect(of('create table t (a int)', 'create table t (b int)')).toBe(null)
  expect(changedStatements(`${rest} grant a to b;`, rest)).toBe(null)
})

const passed: TestOutcome = { kind: 'passed', seconds: 1, output: '' }

/** What judge() says when the tests end so without the mutant and with it. */
function judged(
  tests: Record<string, [before: TestOutcome['kind'], after: TestOutcome['kind']]>,
  tried: string[] = [],
): Promise<Verdict> {
  const outcome = (entry: string, index: 0 | 1): Promise<TestOutcome> =>
    Promise.resolve({ ...passed, kind: tests[entry]?.[index] ?? 'passed' })
  return judge(Object.keys(tests), {
    without: (entry) => outcome(entry, 0),
    with: (entry) => {
      tried.push(entry)
      return outcome(entry, 1)
    },
  })
}

Deno.test('judge() tries the tests in turn until one notices', async () => {
  const tried: string[] = []
  const tests = {
    a: ['passed', 'passed'],
    b: ['passed', 'failed'],
    c: ['failed', 'failed'],
  } as const
  expect(await judged({ a: [...tests.a], b: [...tests.b], c: [...tests.c] }, tried))
    .toEqual({ kind: 'killed', by: 'b' })
  expect(tried).toEqual(['a', 'b'])
})

Deno.test('judge() believes no test that fails without the mutant, and no statement that is refused', async () => {
  expect((await judged({ a: ['failed', 'failed'] })).kind).toBe('error')
  expect((await judged({ a: ['passed', 'refused'] })).kind).toBe('error')
})

Deno.test('judge() tells a timeout apart, and a survivor', async () => {
  expect(await judged({ a: ['passed', 'timeout'] })).toEqual({ kind: 'killed by timeout', by: 'a' })
  expect(await judged({ a: ['passed', 'passed'] })).toEqual({ kind: 'survived' })
})

Deno.test('report() counts by area, and does not count what is equivalent', () => {
  const mutant: Mutant = {
    file: 'f',
    find: 'a',
    replace: 'b',
    tests: ['t'],
    why: 'what goes wrong',
  }
  const one = (kind: 'killed' | 'survived' | 'equivalent', area: string): Judged => ({
    area,
    mutant,
    seconds: 1,
    verdict: kind === 'killed' ? { kind, by: 't' } : { kind },
  })
  const text = report(
    [one('killed', 'x'), one('survived', 'x'), one('equivalent', 'y')],
    60,
  )
  expect(text).toContain('x | 2 | 1 | 0 | 1 | 0')
  expect(text).toContain('y | 1 | 0 | 1 | 0 | 0')
  expect(text).toContain('3 mutants, 1 killed (50 % of those that are not equivalent)')
})
