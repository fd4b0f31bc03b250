/** Every lock in sql/ is taken away by a mutant, so that its test is known to fail without it. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { lockSites, lockSitesOf } from '../concurrency/_support/lock_sites.ts'
import { lockTests } from '../concurrency/_support/lock_tests.ts'
import { areas } from '../mutants/list/mod.ts'
import { type Mutant, mutate, namedTest } from '../mutants/mutant.ts'

/** The part of `before` that is another one in `after`. */
function changed(before: string, after: string): { start: number; end: number } {
  const most = Math.min(before.length, after.length)
  let start = 0
  while (start < most && before[start] === after[start]) start++
  let same = 0
  while (same < most - start && before.at(-1 - same) === after.at(-1 - same)) same++
  return { start, end: before.length - same }
}

/** The names of the locks that a mutant of a SQL file takes away or makes others. */
function changedLocks(
  { file, ...change }: Pick<Mutant, 'file' | 'find' | 'replace'>,
  text: string,
): string[] {
  const mutated = mutate(text, change)
  if (!mutated.ok) return []
  const { start, end } = changed(text, mutated.text)
  const path = file.replace(/^sql\//, '')
  const left = lockSitesOf(path, mutated.text)
  const shift = mutated.text.length - text.length
  return lockSitesOf(path, text).filter((site) => {
    if (site.end < start || site.start > end) return false
    const places = [site.start, site.start + shift]
    const lock = site.name.replace(/ \(\d+\)$/, '')
    return !left.some((one) =>
      places.includes(one.start) && one.name.replace(/ \(\d+\)$/, '') === lock
    )
  }).map(({ name }) => name)
}

const ofSql = areas.flatMap(({ mutants }) => mutants).filter(({ file }) =>
  /^sql\/.*\.sql$/.test(file)
)

Deno.test('each lock of sql/ is changed by a mutant that names the test of this lock', async () => {
  const found = new Map<string, string[]>()
  for (const mutant of ofSql) {
    const text = await Deno.readTextFile(join(projectRoot, mutant.file))
    for (const name of changedLocks(mutant, text)) {
      found.set(name, [...found.get(name) ?? [], ...mutant.tests])
    }
  }
  const wrong = (await lockSites(projectRoot)).flatMap((name) => {
    const tests = found.get(name)
    if (tests === undefined) return [`${name} has no mutant`]
    const [file = ''] = lockTests[name] ?? []
    const isNamed = tests.some((entry) => namedTest(entry).path === `tests/concurrency/${file}`)
    return isNamed ? [] : [`${name}: no mutant names ${file}`]
  })
  expect(wrong).toEqual([])
})

Deno.test('changedLocks() tells the lock that is changed from the one beside it', () => {
  const file = 'sql/a.sql'
  const text = `create function outbox.f() as $$
  select 1 from outbox.a for update skip locked;
  select 1 from outbox.b for update skip locked;
  perform outbox.lock_gates(1);
$$;
`
  const rows: [find: string, replace: string, locks: string[]][] = [
    ['outbox.a for update skip locked', 'outbox.a for update', ['f: for update skip locked']],
    ['outbox.b for update skip locked', 'outbox.b', ['f: for update skip locked (2)']],
    ['  perform outbox.lock_gates(1);\n', '', ['f: lock_gates']],
    ['outbox.lock_gates(1)', 'outbox.lock_gates(2)', []],
    ['select 1 from outbox.a', 'select 2 from outbox.a', []],
    [
      `a for update skip locked;
  select 1 from outbox.b for update skip locked`,
      'b',
      ['f: for update skip locked', 'f: for update skip locked (2)'],
    ],
  ]
  for (const [find, replace, locks] of rows) {
    expect(changedLocks({ file, find, replace }, text)).toEqual(
      locks.map((lock) => `a.sql ${lock}`),
    )
  }
})
