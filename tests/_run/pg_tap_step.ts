import { join } from 'node:path'
import { waitsForAll } from './behind_all.ts'
import { divide } from './deno_step.ts'
import { listFiles } from './files.ts'
import type { FileResult } from './pg_tap.ts'
import { run } from './processes.ts'
import { namePattern, runsAll, select, selectsAll } from './selection.ts'
import { type SessionProfile, sessionRuns, textRun } from './session_settings.ts'
import type { Part, PartResult, Step, StepContext } from './step.ts'
import { add, tally } from './tally.ts'

/** A step that runs pgTAP files, in so many parts with a database each. */
export function pgTapStep(
  { name, folder, parts }: { name: string; folder: string; parts: number },
): Step {
  return {
    name,
    parts: async (context) =>
      divide(await choose(name, folder, context), parts).map((files) =>
        pgTapPart(files, [], context)
      ),
  }
}

/**
 * A step that runs pgTAP files again in databases with other settings (`session_settings.ts`): the
 * folders of `short` with the settings that decide texts, and with `--all` every file with all
 * of them. Words of the command line select it only by its name.
 */
export function sessionStep(
  { name, folder, short }: { name: string; folder: string; short: readonly string[] },
): Step {
  return {
    name,
    parts: async (context) => {
      const { filter } = context
      const isNamed = filter.steps.includes(name)
      if (!selectsAll(filter) && !isNamed) return []
      const all = (await listFiles(context.root, folder, '.test.sql'))
        // The settings of a session decide no text of a plan, and may decide the plan itself.
        .filter((file) => !waitsForAll(file) && !file.includes('plans'))
      const isAll = runsAll(context, name)
      const files = isAll
        ? all
        : all.filter((file) => short.some((start) => file.startsWith(`${start}/`)))
      return (isAll ? sessionRuns : [textRun]).flatMap(({ profiles, takes }) =>
        inParts(files.filter(takes))
          .map((part) => pgTapPart(part, profiles, context))
      )
    },
  }
}

/** In parts of at most 60 files. */
function inParts(files: string[]): string[][] {
  return divide(files, Math.ceil(files.length / 60))
}

async function choose(name: string, folder: string, context: StepContext): Promise<string[]> {
  const listed = await listFiles(context.root, folder, '.test.sql')
  const { whole, byName, names } = select(context.filter, name, listed)
  // A test of a file cannot run without those before it, so a name selects the file.
  const pattern = namePattern(names)
  const files = runsAll(context, name) ? whole : whole.filter((file) => !waitsForAll(file))
  for (const file of byName) {
    if (pattern.test(await Deno.readTextFile(join(context.root, file)))) files.push(file)
  }
  return files
}

/** In a process of its own, so that an interrupted run ends at once with all that it started. */
function pgTapPart(
  files: string[],
  profiles: readonly SessionProfile[],
  { root }: StepContext,
): Part {
  const named = profiles.length === 0 ? '' : ` with ${profiles.join(', ')}`
  return {
    name: (files.length === 1 ? files[0] ?? '' : `${files.length} files`) + named,
    files,
    async run(env): Promise<PartResult> {
      const options = profiles.length === 0 ? [] : ['--profiles', profiles.join(',')]
      const ended = await run({
        path: Deno.execPath(),
        args: [
          'run',
          '-A',
          '--cached-only',
          '--no-check',
          'tests/_run/pg_tap.ts',
          ...options,
          ...files,
        ],
        cwd: root,
        env,
      })
      return resultOf(files, ended)
    },
  }
}

function resultOf(files: string[], ended: { code: number; output: string }): PartResult {
  const lines = ended.output.split('\n')
  // SAFETY: pg_tap.ts writes one line of this form for each file.
  const results = lines.filter((line) => line.startsWith('{"file":'))
    .map((line) => JSON.parse(line) as FileResult)
  const died = ended.code !== 0 || results.length !== files.length
  const failed = results.filter(({ counts }) => counts.failed > 0)
  return {
    counts: results.map(({ counts }) => counts).reduce(add, tally({ failed: died ? 1 : 0 })),
    causes: [
      ...failed.map(({ output }) => output.split('\n', 1)[0] ?? ''),
      ...died ? [`pgTAP ended with code ${ended.code}: ${lastLine(lines)}`] : [],
    ],
    output: failed.map(({ output }) => output).join('') +
      (died ? lines.filter((line) => !line.startsWith('{"file":')).join('\n') : ''),
    files: results.map(({ file, seconds }) => ({ name: file, seconds })),
    tests: [],
  }
}

function lastLine(lines: string[]): string {
  return lines.findLast((line) => line !== '' && !line.startsWith('{"file":')) ?? 'no output'
}
