import { join } from 'node:path'
import { ensureTool } from '../../supabase/local/npm_tool.ts'
import { testFolder } from '../_support/folder.ts'
import { waitsForAll } from './behind_all.ts'
import { denoFailures } from './deno_failures.ts'
import { readDenoSummary } from './deno_summary.ts'
import { listFiles } from './files.ts'
import { readJunit } from './junit.ts'
import { type Ended, run } from './processes.ts'
import { namePattern, runsAll, select } from './selection.ts'
import type { Part, PartResult, Step, StepContext } from './step.ts'
import { tally } from './tally.ts'

/** Far above any file, also on a busy machine. One that waits for ever would otherwise use up the time of all others. */
const limitMs = 20 * 60_000

/** Which test files a step runs, and how. */
export interface DenoStep {
  name: string
  folder: string
  /** Folders and files below it to leave out. */
  without?: readonly string[]
  /** Folders and files below it to run; default: all. */
  only?: readonly string[]
  /** Folders and files of it that the short run has; default: all. */
  short?: readonly string[]
  /** How the files' names end; default: `.test.ts`. */
  ending?: string
  /** Another Deno than the one that runs us, by its exact version. */
  version?: string
  /** Whether the output of tests that pass is shown too: as it comes, or at the end of the step. */
  shows?: 'live' | 'at the end'
  /** In how many parts the files run; each in its own unless said otherwise. */
  parts?: number
  /** Files that measure what other work on the machine would disturb. */
  alone?: readonly string[]
  /** Files that wait most of their time. */
  waits?: readonly string[]
  /** Whether a test fails that leaves a file, a timer or a request open. Deno 2.1 checks that always. */
  leaks?: boolean
  env?: Record<string, string>
}

/** A step that runs test files under `deno test`. */
export function denoStep(spec: DenoStep): Step {
  return {
    name: spec.name,
    eachPart: spec.parts === undefined,
    parts: (context) => denoParts(spec, context),
  }
}

async function denoParts(spec: DenoStep, context: StepContext): Promise<Part[]> {
  const ending = spec.ending ?? '.test.ts'
  const { only } = spec
  const files = (await listFiles(context.root, spec.folder, ending, spec.without ?? []))
    .filter((file) => only === undefined || isBelow(file, only))
  const chosen = select(context.filter, spec.name, files)
  const { short } = spec
  const whole = runsAll(context, spec.name) ? chosen.whole : chosen.whole.filter((file) => {
    return !waitsForAll(file) && (short === undefined || isBelow(file, short))
  })
  // Deno's own filter takes a pattern in Rust's syntax, whose flags stand inside.
  const filter = `--filter=/(?i:${namePattern(chosen.names).source})/`
  return [
    ...divide(whole, spec.parts).map((paths) => denoPart(spec, context, paths, [])),
    ...divide(chosen.byName, spec.parts).map((paths) => denoPart(spec, context, paths, [filter])),
  ]
}

function isBelow(file: string, places: readonly string[]): boolean {
  return places.some((place) => file === place || file.startsWith(`${place}/`))
}

/** Into so many parts of about the same number of files, or each by itself. */
export function divide(files: readonly string[], parts: number = files.length): string[][] {
  const shares = Array.from({ length: parts }, (): string[] => [])
  for (const [index, file] of files.entries()) shares[index % parts]?.push(file)
  return shares.filter((share) => share.length > 0)
}

function denoPart(spec: DenoStep, context: StepContext, paths: string[], more: string[]): Part {
  return {
    name: paths.length === 1 ? paths[0] ?? '' : `${paths.length} files`,
    files: paths,
    ...spec.version === undefined ? {} : { deno: spec.version },
    waits: paths.length > 0 && paths.every((path) => spec.waits?.includes(path)),
    alone: paths.some((path) => spec.alone?.includes(path)),
    run: (env) => test(spec, context, { paths, more, env: { ...env, ...spec.env } }),
  }
}

async function test(
  spec: DenoStep,
  context: StepContext,
  { paths, more, env }: { paths: string[]; more: string[]; env: Record<string, string> },
): Promise<PartResult> {
  const deno = spec.version === undefined
    ? Deno.execPath()
    : join(await ensureTool(context.root, 'deno', spec.version), 'deno')
  // `deno task ok` has checked the types for the Deno that runs us, so only others check here.
  const check = spec.version === undefined || !context.all ? ['--no-check'] : []
  // --quiet would also hide what the tests print, such as what the long ones have measured.
  const quiet = spec.shows === undefined ? ['--quiet'] : []
  const live = spec.shows === 'live'
  const report = context.slow ? testFolder(context.mark) : null
  const sanitize = spec.leaks === true ? ['--sanitize-ops', '--sanitize-resources'] : []
  const junit = report === null ? [] : [`--junit-path=${report}/junit.xml`]
  if (report !== null) await Deno.mkdir(report, { recursive: true })
  const started = performance.now()
  const go = (flags: readonly string[]): Promise<Ended> =>
    run({
      path: deno,
      args: [
        'test',
        ...quiet,
        '-A',
        '--cached-only',
        ...check,
        ...sanitize,
        ...flags,
        ...more,
        ...paths,
      ],
      cwd: context.root,
      env,
      live,
      // What is shown as it comes are the long tests.
      ...live ? {} : { limitMs },
    })
  const ended = await go(junit)
  const seconds = (performance.now() - started) / 1000
  const counts = readDenoSummary(ended.output, ended.code)
  const advice = ended.code === 127
    ? `  ${deno} does not start: remove .outhook/tools and try again\n`
    : ''
  const traced = hasLeaked(ended) && !live
    ? `\nThe same tests again, with where each leak was opened:\n${
      (await go(['--trace-leaks'])).output
    }`
    : ''
  return {
    // A filter by name that matches nothing here is no result of its own.
    counts: more.length > 0 && ended.code === 0 && counts.passed === 0 ? tally() : counts,
    output: (counts.failed > 0 || spec.shows !== undefined) && !live
      ? ended.output + advice + traced
      : '',
    causes: counts.failed > 0 ? denoFailures(ended, paths) : [],
    files: paths.length === 1 ? [{ name: paths[0] ?? '', seconds }] : [],
    tests: report === null ? [] : await readReport(report),
  }
}

/**
 * Whether a test has left something open. Only a second run uses `--trace-leaks`, which says where: it costs up to a
 * fifth more CPU time.
 */
function hasLeaked({ code, output }: Ended): boolean {
  return code !== 0 && /^error: Leaks detected/m.test(output)
}

async function readReport(folder: string): Promise<PartResult['tests']> {
  try {
    return readJunit(await Deno.readTextFile(`${folder}/junit.xml`))
  } catch {
    // Deno writes none when a file does not load.
    return []
  } finally {
    await Deno.remove(folder, { recursive: true })
  }
}
