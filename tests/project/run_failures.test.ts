/** The runner names the file and the cause of each failure, also of one outside of any test. */

import { expect } from '@std/expect'
import { dirname, join } from 'node:path'
import { denoStep } from '../_run/deno_step.ts'
import { makeFilter } from '../_run/selection.ts'
import type { PartResult } from '../_run/step.ts'

/** Runs one test file of this text as a step does. */
async function resultOf(text: string, leaks = false): Promise<PartResult> {
  const root = await Deno.makeTempDir()
  try {
    const path = join(root, 'tests/one.test.ts')
    await Deno.mkdir(dirname(path))
    await Deno.writeTextFile(path, text)
    const [part] = await denoStep({ name: 'some', folder: 'tests', leaks }).parts({
      root,
      filter: makeFilter([], ['some'], []),
      all: false,
      slow: false,
      mark: crypto.randomUUID(),
      env: {},
    })
    if (part === undefined) throw new Error('the step has no part')
    return await part.run({ NO_COLOR: '1' })
  } finally {
    await Deno.remove(root, { recursive: true })
  }
}

Deno.test('a failed test is named with its file and its error', async () => {
  const { counts, causes } = await resultOf(
    `Deno.test('good', () => {})
     Deno.test('bad => worse', () => { throw new TypeError('no such thing\\nmore of it') })
     Deno.test('outer', async (t) => { await t.step('inner', () => { throw new Error('deep') }) })`,
  )
  expect(counts).toEqual({ passed: 1, failed: 2, skipped: 0 })
  expect(causes).toEqual([
    'tests/one.test.ts: bad => worse: TypeError: no such thing',
    'tests/one.test.ts: outer ... inner: Error: deep',
  ])
})

Deno.test('a leak is told with the line that has opened it', async () => {
  const { counts, output, causes } = await resultOf(
    `Deno.test('leaves a timer', () => {
       setTimeout(() => {}, 60_000)
     })`,
    true,
  )
  expect(counts.failed).toBe(1)
  expect(output).toMatch(/A timer was started .*one\.test\.ts:2:8/s)
  expect(causes).toEqual(['tests/one.test.ts: leaves a timer: Leaks detected:'])
})

Deno.test('an error outside of any test is named with its file', async () => {
  const { counts, causes } = await resultOf(
    `Deno.test('good', () => {})
     addEventListener('unload', () => { throw new Error('too late') })`,
  )
  expect(counts).toEqual({ passed: 1, failed: 1, skipped: 0 })
  expect(causes).toEqual(['tests/one.test.ts: uncaught error: Error: too late'])
})

Deno.test('a rejection without an error is named with its file', async () => {
  const { causes } = await resultOf(
    `Deno.test('waits', async () => {
       void Promise.reject(undefined)
       await new Promise((resolve) => setTimeout(resolve, 10))
     })`,
  )
  expect(causes).toEqual(['tests/one.test.ts: uncaught error: (in promise) undefined'])
})

Deno.test('a file that does not load is named with its error', async () => {
  const { causes } = await resultOf(`import './missing.ts'`)
  expect(causes.join('\n')).toMatch(/one\.test\.ts: .*Module not found/s)
})

Deno.test('a process that a signal ends is named with its signal, file and last output', async () => {
  // Another thread prints the name, and nothing tells the test when it has.
  const { counts, output, causes } = await resultOf(
    `Deno.test('dies', async () => {
       console.log('so far')
       await new Promise((resolve) => setTimeout(resolve, 500))
       Deno.kill(Deno.pid, 'SIGKILL')
     })`,
  )
  expect(counts.failed).toBe(1)
  expect(output).toContain('dies ...')
  expect(causes).toHaveLength(1)
  expect(causes[0]).toContain('tests/one.test.ts: deno test ended with SIGKILL')
  expect(causes[0]).toContain('dies ...')
})
