import { expect } from '@std/expect'
import { readOrder } from '../../supabase/local/schema/order.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { docs, docsBlock, docsTable } from './_docs.ts'
import { codeMap, page, withBlocks } from './_code_map.ts'
import { readProjectFile } from './_tracked.ts'

Deno.test('the pictures of docs/code.md are those of the code', async () => {
  const hint = 'Run: npx -y deno@2.9.6 run -A tests/project/_code_map.ts'
  for (const [name, block] of Object.entries(await codeMap())) {
    expect({ name, hint, block: docsBlock(name) }).toEqual({ name, hint, block })
  }
})

Deno.test('withBlocks() replaces one block and nothing else', () => {
  const text = 'a\n\n```mermaid name=map.a\nold\n```\n\n```text name=map.b\nkept\n```\n'
  expect(withBlocks(text, { 'map.a': 'new $1\n' }))
    .toBe('a\n\n```mermaid name=map.a\nnew $1\n```\n\n```text name=map.b\nkept\n```\n')
})

/** A link of the section; `name` is the function before it, if there is one. */
type Step = { name: string | undefined; path: string }

/** The text of the page below a heading of the second level. */
function section(heading: string): string {
  const [, text = ''] = docs.get(page)?.split(new RegExp(`^## ${heading}$`, 'm')) ?? []
  return text.split(/^## /m)[0] ?? ''
}

/** The files of the lifecycle with the functions to read there, in the order of the page. */
function lifecycle(): Step[] {
  const text = section('The lifecycle of an event in code')
  const steps = [...text.matchAll(/(?:`(\w+)\(\)` in\s+)?\[[^\]]+\]\(\.\.\/([^)]+)\)/g)]
    .map(([, name, path = '']) => ({ name, path }))
  // Each function of the section has its file.
  expect([...text.matchAll(/`\w+\(\)`/g)])
    .toHaveLength(steps.filter(({ name }) => name !== undefined).length)
  return steps
}

/** Whether a file defines the function of a step; without one, whether it exists. */
function defines(text: string, { name, path }: Step): boolean {
  if (name === undefined) return text !== ''
  const definition = path.endsWith('.sql')
    ? new RegExp(`^create (?:or replace )?function outbox\\.${name}\\(`, 'm')
    : new RegExp(`^(?:export )?(?:async )?function ${name}\\b`, 'm')
  return definition.test(text)
}

Deno.test('each step of the lifecycle is a function of the file that the page names', async () => {
  const steps = lifecycle()
  expect(steps.length).toBeGreaterThan(30)
  const missing: Step[] = []
  for (const step of steps) {
    if (!defines(await readProjectFile(step.path) ?? '', step)) missing.push(step)
  }
  expect(missing).toEqual([])
})

Deno.test('the reading order for one evening names files with a head and is as long as it says', async () => {
  const heading = 'What to read in one evening'
  const read = docsTable(page, heading).map(([file = '']) => /\(\.\.\/(.+)\)/.exec(file)?.[1] ?? '')
  const [, stated = ''] = /are about ([\d,]+) lines/.exec(section(heading)) ?? []
  const texts = await Promise.all(read.map(readProjectFile))
  expect(texts.map((text, at) => text?.startsWith('-- ') ? '' : read[at]).join('')).toBe('')
  const lines = texts.join('').split('\n').length
  expect(Math.abs(lines - Number(stated.replace(',', '')))).toBeLessThan(100)
  expect(section(heading)).toContain(`These ${['six', 'seven', 'eight'][read.length - 6]} files`)
  // Each file is of the schema, and none of those to skip is among those to read.
  const applied = (await readOrder(projectRoot)).flatMap(({ paths }) => paths)
  const links = [...section(heading).matchAll(/\(\.\.\/(sql\/[^)]+)\)/g)].map(([, path = '']) =>
    path
  )
  expect(links.filter((path) => !applied.includes(path))).toEqual([])
  expect(links).toHaveLength(new Set(links).size)
})

/** Whoever calls these is outside: an application, pg_cron, an operator. */
const entries = ['publish', 'tick', 'replay']

Deno.test('each step of the lifecycle is named in a file of an earlier step', async () => {
  const unnamed: string[] = []
  const seen = new Map<string, string>()
  for (const { name, path } of lifecycle()) {
    const isKnown = name === undefined || entries.includes(name) || seen.has(path) ||
      [...seen.values()].some((text) => new RegExp(`\\b${name}\\b`).test(text))
    if (!isKnown) unnamed.push(name)
    seen.set(path, await readProjectFile(path) ?? '')
  }
  expect(unnamed).toEqual([])
})
