import { expect } from '@std/expect'
import { databaseOf, readEntries } from '../../../consumer/into/routes.ts'

const orgs = Array.from({ length: 3_000 }, (_, n) => `org-${n}`)
const without = { entries: new Map<string, string>() }

Deno.test('databaseOf() spreads organisations evenly, and always says the same', () => {
  const names = ['eu-1', 'eu-2', 'eu-3']
  const counts = new Map<string, number>()
  for (const org of orgs) {
    const name = databaseOf({ names, ...without }, org)
    counts.set(name, (counts.get(name) ?? 0) + 1)
    // In whatever order the databases are given.
    expect(databaseOf({ names: names.toReversed(), ...without }, org)).toBe(name)
  }
  for (const name of names) expect(Math.abs((counts.get(name) ?? 0) - 1_000)).toBeLessThan(120)
})

Deno.test('databaseOf() keeps an organisation where it is unless a further database takes it over', () => {
  const moved = orgs.filter((org) =>
    databaseOf({ names: ['eu-1', 'eu-2'], ...without }, org) !==
      databaseOf({ names: ['eu-1', 'eu-2', 'eu-3'], ...without }, org)
  )
  const to = new Set(
    moved.map((org) => databaseOf({ names: ['eu-1', 'eu-2', 'eu-3'], ...without }, org)),
  )
  expect([...to]).toEqual(['eu-3'])
  expect(moved.length).toBeLessThan(1_150)
})

Deno.test('databaseOf() has these databases for these organisations in each version', () => {
  const names = ['eu-1', 'eu-2', 'eu-3']
  expect(orgs.slice(0, 8).map((org) => databaseOf({ names, ...without }, org)).join(' '))
    .toBe('eu-1 eu-1 eu-1 eu-3 eu-2 eu-2 eu-2 eu-3')
})

Deno.test('databaseOf() lets an entry win', () => {
  const names = ['eu-1', 'eu-2']
  const entries = new Map(orgs.slice(0, 50).map((org) => [org, 'eu-2']))
  const found = orgs.slice(0, 50).map((org) => databaseOf({ names, entries }, org))
  expect(new Set(found)).toEqual(new Set(['eu-2']))
})

Deno.test('readEntries() reads organisations with their databases, or says what is wrong', () => {
  const names = ['eu-1', 'eu-2']
  expect(readEntries('{"org-9": "eu-2"}', names)).toEqual(new Map([['org-9', 'eu-2']]))
  const rows: [text: string, problem: string][] = [
    ['{', 'is not JSON'],
    ['[]', 'is not an object such as {"org-9": "eu-2"}'],
    ['null', 'is not an object such as {"org-9": "eu-2"}'],
    ['{"org-9": "eu-3"}', 'has no database of --into for org-9: expected eu-1 or eu-2'],
    ['{"org-9": 2}', 'has no database of --into for org-9: expected eu-1 or eu-2'],
  ]
  for (const [text, problem] of rows) expect(readEntries(text, names)).toBe(problem)
})
