/** The page "Add a kind of endpoint", held against the kind that was added by it. */

import { expect } from '@std/expect'
import { readProjectFile } from './_tracked.ts'

const page = (await readProjectFile('CONTRIBUTING.md') ?? '')
  .split('## Add a kind of endpoint\n')[1] ?? ''
const steps = page.split(/^\d+\. /m).slice(1)

/** Files of which a step speaks that need no line for a new kind. */
const general = ['functions/_shared/senders/sender.ts', 'tests/project/sockets.test.ts']

Deno.test('the page has ten steps, each with a file', () => {
  expect(steps).toHaveLength(10)
  expect(steps.filter((step) => pathsOf(step).length === 0)).toEqual([])
})

for (const [index, step] of steps.entries()) {
  for (const path of pathsOf(step)) {
    Deno.test(`step ${index + 1} is true of slack: ${path}`, async () => {
      const text = await readProjectFile(path)
      expect([path, text === null]).toEqual([path, false])
      if (!general.includes(path)) expect(text).toMatch(/slack/i)
    })
  }
}

Deno.test('the page names functions and constraints that are there', async () => {
  const names = [...page.matchAll(/`(\w+_\w+)(?:\(\))?`/g)].map(([, name = '']) => name)
  expect(names).toContain('put_credentials')
  const schema = await readProjectFile('tests/sql/schema.expected.sql') ?? ''
  const functions = await readProjectFile('tests/sql/schema/functions.expected.txt') ?? ''
  const there = (name: string): boolean =>
    new RegExp(`\\b${name}\\b`).test(schema + functions) || name === 'service_role'
  expect(names.filter((name) => !there(name))).toEqual([])
})

/** The files in a step's backquotes, for the kind slack. */
function pathsOf(step: string): string[] {
  return [...step.matchAll(/`([\w./<>-]+\.(?:ts|sql|md))`/g)]
    .map(([, path = '']) => path.replaceAll('<kind>', 'slack'))
}
