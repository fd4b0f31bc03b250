import { printRaw } from '../../supabase/local/print.ts'
import { partMark, runMark, stopLeftovers } from './leftovers.ts'
import { duration, type StepTime } from './report.ts'
import { type Job, runJobs, type Width } from './schedule.ts'
import type { Part, PartResult, Step, StepContext } from './step.ts'
import { add, type Tally, tally, tallyLine } from './tally.ts'

/** How a step went, with the results of its parts. */
export interface StepResult {
  name: string
  counts: Tally
  time: StepTime
  parts: RanPart[]
}

/** A part that has run. */
export interface RanPart extends PartResult {
  part: Part
}

/** A step with its parts, none of which has run. */
export interface PlannedStep {
  step: Step
  parts: Part[]
}

/** What is known of a step while its parts run. */
interface Running {
  step: Step
  left: number
  results: RanPart[]
  outputs: string[]
  begun: number
  work: number
}

/** Lists the parts of each step that the filter selects. */
export function planSteps(steps: readonly Step[], context: StepContext): Promise<PlannedStep[]> {
  return Promise.all(steps.map(async (step) => ({ step, parts: await step.parts(context) })))
}

/**
 * Runs the parts of all steps side by side. What a step has to tell is
 * written in one piece, at its end. Returns the steps that had something to run, in their order.
 */
export async function runSteps(
  steps: readonly PlannedStep[],
  context: StepContext,
  width: Width,
  stopped: () => boolean,
): Promise<StepResult[]> {
  const jobs: Job[] = []
  const ended: StepResult[] = []
  for (const { step, parts } of steps) {
    const running = { step, left: parts.length, results: [], outputs: [], begun: 0, work: 0 }
    for (const part of parts) {
      jobs.push({
        alone: part.alone ?? false,
        waits: part.waits ?? false,
        run: () => go(part, running),
      })
    }
  }
  let count = 0
  await runJobs(jobs, width, stopped)
  const order = steps.map(({ step }) => step.name)
  return ended.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name))

  async function go(part: Part, running: Running): Promise<void> {
    const started = performance.now()
    if (running.results.length === 0 && running.begun === 0) running.begun = started
    const { result, output } = await runPart(part, context, partMark(context.mark, count++))
    // An interrupted part has nothing to tell.
    if (stopped()) return
    const seconds = (performance.now() - started) / 1000
    running.work += seconds
    running.results.push({ ...result, part })
    running.outputs.push(output)
    if (running.step.eachPart) printRaw(lineOf(part.name, result.counts, seconds, '  '))
    running.left -= 1
    if (running.left === 0) ended.push(finish(running))
  }
}

/** Runs one part, and ends what it left running, which counts as a failure of it. */
export async function runPart(
  part: Part,
  context: StepContext,
  mark: string,
): Promise<{ result: PartResult; output: string }> {
  let result: PartResult
  try {
    result = await part.run({ ...context.env, [runMark]: mark })
  } catch (error) {
    const text = error instanceof Error ? error.stack ?? error.message : String(error)
    const causes = [`${part.name}: ${text.split('\n', 1)[0]}`]
    result = { counts: tally({ failed: 1 }), output: `${text}\n`, causes, files: [], tests: [] }
  }
  const left = await stopLeftovers(mark)
  if (left.length === 0) return { result, output: result.output }
  const lines = left.map(({ pid, command }) =>
    `${part.name} left running: process ${pid}, ${command}`
  )
  const counts = add(result.counts, tally({ failed: 1 }))
  return {
    result: { ...result, counts, causes: [...result.causes, ...lines] },
    output: [result.output, ...lines.map((line) => `${line}\n`)].join(''),
  }
}

function finish({ step, results, outputs, begun, work }: Running): StepResult {
  const counts = results.map((result) => result.counts).reduce(add, tally())
  const clock = (performance.now() - begun) / 1000
  printRaw(outputs.join('') + lineOf(step.name, counts, clock, ''))
  return { name: step.name, counts, time: { name: step.name, clock, work }, parts: results }
}

/** `ok name: 3 passed, 0 failed (2.0 s)`. */
export function lineOf(name: string, counts: Tally, seconds: number, indent: string): string {
  const word = counts.failed === 0 ? 'ok    ' : 'FAILED'
  return `${indent}${word} ${name}: ${tallyLine(counts)} (${duration(seconds)})\n`
}
