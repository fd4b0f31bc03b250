/** What a second run of failed parts changes, and what it must not hide. */

import { expect } from '@std/expect'
import { runFailedAgain } from '../_run/again.ts'
import type { StepResult } from '../_run/run_steps.ts'
import type { Part, StepContext } from '../_run/step.ts'
import { tally } from '../_run/tally.ts'

const context: StepContext = {
  root: '.',
  filter: { words: [], steps: [], paths: [] } as unknown as StepContext['filter'],
  all: true,
  slow: false,
  mark: crypto.randomUUID(),
  env: {},
}

/** A step of one part that failed its first run, and that fails `failures` of the later ones. */
function failedStep(name: string, failures: number): { step: StepResult; runs: () => number } {
  let runs = 0
  const part: Part = {
    name: `${name}.test.ts`,
    files: [],
    run: () => {
      const isWell = ++runs > failures
      return Promise.resolve({
        counts: isWell ? tally({ passed: 4 }) : tally({ passed: 3, failed: 1 }),
        output: '',
        causes: isWell ? [] : [`${name}: second cause`],
        files: [],
        tests: [],
      })
    },
  }
  const counts = tally({ passed: 3, failed: 1 })
  const first = { part, counts, output: '', causes: [`${name}: first cause`], files: [], tests: [] }
  return {
    step: { name, counts, time: { name, clock: 0, work: 0 }, parts: [first] },
    runs: () => runs,
  }
}

const never = (): boolean => false

Deno.test('a part that passes alone counts as passed, and its first cause is told', async () => {
  const { step } = failedStep('lease', 0)
  const { results, passedAgain } = await runFailedAgain([step], 3, context, never)
  expect(results.map(({ counts }) => counts)).toEqual([tally({ passed: 4 })])
  expect(passedAgain).toEqual(['lease: first cause'])
})

Deno.test('a part that fails alone, too, stays failed with its first result', async () => {
  const { step, runs } = failedStep('lease', 1)
  const { results, passedAgain } = await runFailedAgain([step], 3, context, never)
  expect(results).toEqual([step])
  expect(passedAgain).toEqual([])
  expect(runs()).toBe(1)
})

Deno.test('a step with a part that passes and one that fails keeps the failure', async () => {
  const passes = failedStep('a', 0)
  const fails = failedStep('b', 1)
  const step = { ...passes.step, parts: [...passes.step.parts, ...fails.step.parts] }
  const { results } = await runFailedAgain([step], 3, context, never)
  expect(results.map(({ counts }) => counts)).toEqual([tally({ passed: 7, failed: 1 })])
})

Deno.test('if more parts failed than the limit, none of them runs again', async () => {
  const steps = ['a', 'b', 'c', 'd'].map((name) => failedStep(name, 0))
  const first = steps.map(({ step }) => step)
  const { results, passedAgain } = await runFailedAgain(first, 3, context, never)
  expect(results).toEqual(first)
  expect(passedAgain).toEqual([])
  expect(steps.map(({ runs }) => runs())).toEqual([0, 0, 0, 0])
})

Deno.test('without a limit nothing runs again, and nothing after an interrupt', async () => {
  const { step, runs } = failedStep('a', 0)
  await runFailedAgain([step], 0, context, never)
  await runFailedAgain([step], 3, context, () => true)
  expect(runs()).toBe(0)
})
