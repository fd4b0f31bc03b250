import { join } from 'node:path'
import { ensureTool } from '../../supabase/local/npm_tool.ts'
import { print, printRaw } from '../../supabase/local/print.ts'
import { readDenoSummary } from './deno_summary.ts'
import { listFiles } from './files.ts'
import { run } from './processes.ts'
import { namePattern, select } from './selection.ts'
import type { Step, StepContext } from './step.ts'
import { add, type Tally, tally } from './tally.ts'

/** Which test files a step runs, and how. */
export interface DenoStep {
  name: string
  folder: string
  /** Folders below it to leave out. */
  without?: string[]
  /** Files whose text matches are left out. */
  withoutText?: RegExp
  /** How the files' names end; `.test.ts` unless said otherwise. */
  ending?: string
  /** Another Deno than the one that runs us, by its exact version. */
  version?: string
  /** Takes long enough for its output to be shown as it comes. */
  live?: boolean
  env?: Record<string, string>
}

/** A step that runs test files under `deno test`, with leaks traced. */
export function denoStep(spec: DenoStep): Step {
  return { name: spec.name, run: (context) => runDenoStep(spec, context) }
}

async function runDenoStep(spec: DenoStep, context: StepContext): Promise<Tally | null> {
  const ending = spec.ending ?? '.test.ts'
  const listed = await listFiles(context.root, spec.folder, ending, spec.without ?? [])
  const files = await leaveOut(context.root, listed, spec.withoutText)
  const chosen = select(context.filter, spec.name, files)
  if (chosen.whole.length + chosen.byName.length === 0) return null
  const deno = spec.version === undefined
    ? Deno.execPath()
    : join(await ensureTool(context.root, 'deno', spec.version), 'deno')
  if (spec.live) print(`> ${spec.name}`)
  let counts = tally()
  if (chosen.whole.length > 0) counts = add(counts, await test(chosen.whole, []))
  if (chosen.byName.length > 0) {
    // Deno's own filter takes a pattern in Rust's syntax, whose flags stand inside.
    const filter = `--filter=/(?i:${namePattern(chosen.names).source})/`
    counts = add(counts, await test(chosen.byName, [filter]))
  }
  return counts.passed + counts.failed + counts.skipped === 0 ? null : counts

  async function test(paths: string[], more: string[]): Promise<Tally> {
    // `deno task ok` has checked the types for the Deno that runs us, so only others check here.
    const check = spec.version === undefined ? ['--no-check'] : []
    // --quiet would also hide what the tests print, such as what the long ones have measured.
    const quiet = spec.live ? [] : ['--quiet']
    const ended = await run({
      path: deno,
      args: ['test', ...quiet, '-A', '--cached-only', '--trace-leaks', ...check, ...more, ...paths],
      cwd: context.root,
      env: { ...context.env, ...spec.env },
      live: spec.live ?? false,
    })
    const result = readDenoSummary(ended.output, ended.code)
    if (result.failed > 0 && !spec.live) printRaw(ended.output)
    if (ended.code === 127) print(`  ${deno} does not start: remove .outhook/tools and try again`)
    return result
  }
}

async function leaveOut(root: string, files: string[], pattern?: RegExp): Promise<string[]> {
  if (pattern === undefined) return files
  const texts = await Promise.all(files.map((file) => Deno.readTextFile(join(root, file))))
  return files.filter((_, index) => !pattern.test(texts[index] ?? ''))
}
