import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { behindAll, waitsForAll } from '../_run/behind_all.ts'
import { shrunk } from '../_run/behind_all/shrunk.ts'
import { parseOptions } from '../_run/options.ts'
import type { StepContext } from '../_run/step.ts'
import { testSteps } from '../_run/steps.ts'
import { makeFilter } from '../_run/selection.ts'

/** The files that `task test` with these arguments runs whole. */
async function filesOf(...args: string[]): Promise<string[]> {
  const parsed = parseOptions(args)
  if (!parsed.ok) throw new Error(parsed.message)
  const { all, words } = parsed.options
  const names = testSteps.map(({ name }) => name)
  const filter = makeFilter(words, names, behindAll.map(({ file }) => file))
  const context: StepContext = { root: projectRoot, filter, all, slow: false, mark: '', env: {} }
  const parts = await Promise.all(testSteps.map((step) => step.parts(context)))
  return parts.flat().flatMap(({ files }) => files)
}

for (const { file, why, caughtBy, how } of behindAll) {
  Deno.test(`${file} waits for --all, with a reason and with files that stand for it`, async () => {
    for (const path of [file, ...caughtBy]) {
      expect([path, (await Deno.stat(join(projectRoot, path))).isFile]).toEqual([path, true])
    }
    expect(caughtBy.length).toBeGreaterThan(0)
    expect(caughtBy.filter(waitsForAll)).toEqual([])
    for (const text of [why, how]) expect(text).toMatch(/^[A-Za-z].{20,}\.$/)
  })
}

for (const { file, less, how } of shrunk) {
  Deno.test(`${file} does less in the short run, as its entry says`, async () => {
    expect(waitsForAll(file)).toBe(false)
    const text = await Deno.readTextFile(join(projectRoot, file))
    for (const number of less.match(/\d[\d,]*/g) ?? []) {
      expect(text).toContain(number.replace(',', '_'))
    }
    expect(how).toMatch(/^[A-Z].{20,}\.$/)
  })
}

Deno.test('the list names each file once', () => {
  const files = behindAll.map(({ file }) => file)
  expect(new Set(files).size).toBe(files.length)
})

Deno.test('a file behind --all runs with --all and when a word names it, and else not', async () => {
  const file = 'tests/e2e/stack_killed.test.ts'
  expect(await filesOf('--all')).toContain(file)
  expect(await filesOf('stack_killed')).toEqual([file])
  const short = await filesOf()
  expect(short).not.toContain(file)
  expect(short).toContain('tests/e2e/stack_start.test.ts')
})

Deno.test('with --short and words, a step that a word names runs whole, and paths as in the short run', async () => {
  const [sql, stack] = ['tests/sql/engine/plans/million.test.sql', 'tests/e2e/stack_killed.test.ts']
  expect(await filesOf('--short', 'pgTAP')).toContain(sql)
  expect(await filesOf('--short', 'plans/million')).toEqual([])
  const both = await filesOf('--short', 'schema', 'pgTAP', 'e2e/stack_')
  expect(both).toEqual(expect.arrayContaining([sql, 'tests/e2e/stack_start.test.ts']))
  expect(both).not.toContain(stack)
})
