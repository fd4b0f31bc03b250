import { expect } from '@std/expect'
import { readDatabases } from '../../../consumer/into/databases.ts'

const [first, second] = ['postgresql://a:b@h1:5432/p', 'postgresql://a:b@h2:5432/p']

Deno.test('readDatabases() reads a name with its variable, or with its connection string', () => {
  expect(readDatabases(['eu-1', `eu-2=${second}`], { OUTHOOK_INTO_EU_1: first })).toEqual([
    { name: 'eu-1', url: first },
    { name: 'eu-2', url: second },
  ])
  const many = `${first}?options=a=b`
  expect(readDatabases([`x=${many}`], {})).toEqual([{ name: 'x', url: many }])
})

Deno.test('readDatabases() says what is wrong, without a connection string', () => {
  const rows: [given: string[], problem: RegExp][] = [
    [[], /^Give at least one --into/],
    [['EU'], /^--into takes a name of at most 32 small letters/],
    [[first], /^--into takes a name/],
    [['-a'], /^--into takes a name/],
    [['eu-1'], /^OUTHOOK_INTO_EU_1 is not set$/],
    [['eu-1='], /^--into eu-1 is not set$/],
    [['eu-1=mysql://x:secret@h/p'], /^--into eu-1 must start with postgresql:\/\/$/],
    [['eu-1=postgresql://x:sec#ret@h/p'], /^--into eu-1 is not a URL/],
    [[`a=${first}`, `a=${second}`], /^--into a is given twice$/],
    [[`a=${first}`, `b=${first}`], /^--into a and --into b are the same database$/],
  ]
  for (const [given, problem] of rows) {
    const found = readDatabases(given, {})
    expect(found).toMatch(problem)
    expect(found).not.toMatch(/sec|a:b/)
  }
})
