import { expect } from '@std/expect'
import { databaseByHash, databasesOf, readRoutes } from '../../../consumer/into/routes.ts'

const orgs = Array.from({ length: 3_000 }, (_, n) => `org-${n}`)
const without = { entries: new Map<string, string[]>() }

Deno.test('databaseByHash() spreads organisations evenly, and always says the same', () => {
  const names = ['eu-1', 'eu-2', 'eu-3']
  const counts = new Map<string, number>()
  for (const org of orgs) {
    const name = databaseByHash(names, org)
    counts.set(name, (counts.get(name) ?? 0) + 1)
    // In whatever order the databases are given.
    expect(databaseByHash(names.toReversed(), org)).toBe(name)
  }
  for (const name of names) expect(Math.abs((counts.get(name) ?? 0) - 1_000)).toBeLessThan(120)
})

Deno.test('databaseByHash() keeps an organisation where it is unless a further database takes it over', () => {
  const moved = orgs.filter((org) =>
    databaseByHash(['eu-1', 'eu-2'], org) !==
      databaseByHash(['eu-1', 'eu-2', 'eu-3'], org)
  )
  const to = new Set(
    moved.map((org) => databaseByHash(['eu-1', 'eu-2', 'eu-3'], org)),
  )
  expect([...to]).toEqual(['eu-3'])
  expect(moved.length).toBeLessThan(1_150)
})

Deno.test('databaseByHash() has these databases for these organisations in each version', () => {
  const names = ['eu-1', 'eu-2', 'eu-3']
  expect(orgs.slice(0, 8).map((org) => databaseByHash(names, org)).join(' '))
    .toBe('eu-1 eu-1 eu-1 eu-3 eu-2 eu-2 eu-2 eu-3')
})

Deno.test('databasesOf() lets an entry win', () => {
  const names = ['eu-1', 'eu-2']
  const entries = new Map(orgs.slice(0, 50).map((org) => [org, ['eu-2']]))
  const found = orgs.slice(0, 50).flatMap((org) => databasesOf({ names, entries }, org))
  expect(new Set(found)).toEqual(new Set(['eu-2']))
})

Deno.test('databasesOf() has all databases of a list, and one by the hash for who has no entry', () => {
  const names = ['eu-1', 'eu-2', 'eu-3']
  const routes = readRoutes('{"*": ["eu-1"], "org-9": ["eu-3", "eu-2"]}', names)
  if (typeof routes === 'string') throw new Error(routes)
  expect(databasesOf(routes, 'org-9')).toEqual(['eu-3', 'eu-2'])
  expect(databasesOf(routes, 'org-8')).toEqual(['eu-1'])
})

Deno.test('readRoutes() reads organisations with their databases, or says what is wrong', () => {
  const names = ['eu-1', 'eu-2']
  expect(readRoutes('{"org-9": "eu-2"}', names))
    .toEqual({ names, entries: new Map([['org-9', ['eu-2']]]) })
  const rows: [text: string, problem: string][] = [
    ['{', 'is not JSON'],
    ['[]', 'is not an object such as {"org-9": "eu-2"}'],
    ['null', 'is not an object such as {"org-9": "eu-2"}'],
    ['{"org-9": "eu-3"}', 'has no database of --into for org-9: expected eu-1 or eu-2'],
    ['{"org-9": 2}', 'has no database of --into for org-9: expected eu-1 or eu-2'],
    ...['{"org-9": []}', '{"org-9": ["eu-3"]}', '{"org-9": ["eu-1", "eu-1"]}'].map((
      text,
    ): [string, string] => [
      text,
      'has no list of databases of --into for org-9: expected some of eu-1, eu-2, each once',
    ]),
    ...['{"*": []}', '{"*": "eu-1"}', '{"*": ["eu-3"]}', '{"*": [1]}'].map((
      text,
    ): [string, string] => [
      text,
      'has a * that is not a list of databases of --into: expected some of eu-1, eu-2',
    ]),
  ]
  for (const [text, problem] of rows) expect(readRoutes(text, names)).toBe(problem)
})

Deno.test('a further database gets no organisation by its hash while * does not name it', () => {
  const before = { names: ['eu-1', 'eu-2'], ...without }
  const text = '{"*": ["eu-1", "eu-2"], "org-7": "eu-3"}'
  const after = readRoutes(text, ['eu-1', 'eu-2', 'eu-3'])
  if (typeof after === 'string') throw new Error(after)
  for (const org of orgs) {
    expect(databasesOf(after, org)).toEqual(org === 'org-7' ? ['eu-3'] : databasesOf(before, org))
  }
})
