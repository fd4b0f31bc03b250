import { expect } from '@std/expect'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { listFiles } from '../_run/files.ts'
import { parseOptions } from '../_run/options.ts'
import { makeFilter } from '../_run/selection.ts'
import { soakFiles, soakSteps } from '../_run/soak_steps.ts'

/** The files of each part that `task soak` with these arguments runs, in order. */
async function partsOf(...args: string[]): Promise<(readonly string[])[]> {
  const parsed = parseOptions(['--soak', ...args])
  if (!parsed.ok) throw new Error(parsed.message)
  const { all, words } = parsed.options
  const steps = soakSteps(parsed.options)
  const filter = makeFilter(words, steps.map(({ name }) => name), soakFiles)
  const context = { root: projectRoot, filter, all, slow: false, mark: '', env: {} }
  const parts = await Promise.all(steps.map((step) => step.parts(context)))
  return parts.flat().map(({ files }) => files)
}

Deno.test('the list of the soak has each file of it', async () => {
  expect([...soakFiles].sort()).toEqual((await listFiles(projectRoot, 'tests', '.soak.ts')).sort())
})

Deno.test('task soak --short runs each file by itself, and task soak all of them one after the other', async () => {
  expect(await partsOf('--short')).toEqual(soakFiles.map((file) => [file]))
  expect((await partsOf()).map((files) => [...files].sort())).toEqual([[...soakFiles].sort()])
})

Deno.test('a word selects the same files of the soak in both forms', async () => {
  expect(await partsOf('--short', 'chaos')).toEqual([['tests/soak/chaos.soak.ts']])
  expect(await partsOf('chaos')).toEqual([['tests/soak/chaos.soak.ts']])
})
