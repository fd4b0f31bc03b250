/** A start that cannot come up: its cause, in one sentence, and code 1. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { startProgress } from '../../supabase/local/progress.ts'
import { cloneProject } from '../_support/clone.ts'
import { testFolder } from '../_support/folder.ts'
import { leftIn } from '../_support/processes_in.ts'
import { runTask, startTask } from '../_support/task.ts'

const folder = testFolder()
const clone = join(folder, 'clone')
const dataDir = join(folder, 'data')

Deno.test.beforeAll(() => cloneProject(clone))
Deno.test.afterAll(async () => {
  await Deno.remove(folder, { recursive: true })
})

/** Puts a text in place of a file of the clone, and gives it back when disposed of. */
async function replaced(path: string, text: string): Promise<AsyncDisposable> {
  const file = join(clone, path)
  const before = await Deno.readTextFile(file)
  await Deno.writeTextFile(file, text)
  return { [Symbol.asyncDispose]: () => Deno.writeTextFile(file, before) }
}

const start = ['start', '--once', '--free-ports', '--data-dir', dataDir]

Deno.test('a function that throws while it is loaded ends the start, which names it and its error', async () => {
  await using _ = await replaced('functions/deliver/index.ts', `throw new Error('no such luck')\n`)
  const { code, stdout, stderr } = await runTask({ args: start, cwd: clone })
  expect(code).toBe(1)
  const reason = 'its code failed while it was loaded: correct it (code 1)\n' +
    '  error: Uncaught (in promise) Error: no such luck\n' +
    "  throw new Error('no such luck')\n"
  expect(stderr).toBe(`The function deliver does not start (3 attempts): ${reason}`)
  expect(stdout.split('[deliver] does not start').length).toBe(2)
  expect(stdout).not.toContain('publishing')
  expect(await leftIn(folder, 2_000)).toEqual([])
})

Deno.test('a function that imports a module that is not there ends it the same way', async () => {
  await using _ = await replaced('functions/metrics/index.ts', `import './not_there.ts'\n`)
  const { code, stderr } = await runTask({ args: start, cwd: clone })
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^The function metrics does not start \(3 attempts\): a module that it imports is missing: correct/,
  )
  expect(stderr).toContain('not_there.ts')
})

Deno.test('a port that is taken ends the start at once, with the way out', async () => {
  using taken = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const config = await Deno.readTextFile(join(clone, 'supabase/config.toml'))
  const port = String(taken.addr.port)
  await using _ = await replaced('supabase/config.toml', config.replace('54321', port))
  const { code, stderr } = await runTask({
    args: ['start', '--once', '--data-dir', dataDir],
    cwd: clone,
  })
  expect(code).toBe(1)
  expect(stderr).toBe(
    `port ${port} (API) is taken, perhaps by another copy of this stack or by \`supabase start\`: ` +
      'stop that, or run with --free-ports\n',
  )
})

Deno.test('a Postgres that does not start ends it, with what its log says and the remedy', async () => {
  // The starts above have made the database.
  await Deno.writeTextFile(join(dataDir, 'pg/global/pg_control'), 'broken')
  const { code, stderr } = await runTask({ args: start, cwd: clone })
  expect(code).toBe(1)
  const lines = stderr.trimEnd().split('\n')
  expect(lines[0]).toBe(
    'The database server does not start: fix the error in its log, or start with --fresh, ' +
      `which drops the local data (${dataDir}/postgres.log)`,
  )
  expect(lines.slice(1).join('\n')).toMatch(/^ {2}.*(PANIC|FATAL).*pg_control/)
  expect(lines.length).toBeLessThanOrEqual(4)
  expect(await leftIn(folder, 2_000)).toEqual([])
})

Deno.test('the stack speaks before it does anything, and it comes up on what is left of the above', async () => {
  const args = ['stack', '--fresh', '--free-ports', '--data-dir', dataDir]
  const task = startTask({ args, cwd: clone })
  expect(await task.line(/./)).toBe('starting the local stack')
  await task.line(/^The stack is up/)
  task.kill('SIGTERM')
  expect((await task.ended).code).toBe(0)
})

Deno.test('a progress is told at once, and then every five seconds where there is no terminal', () => {
  let now = 0
  const lines: string[] = []
  const progress = startProgress({
    log: (line) => lines.push(line),
    now: () => now,
    isTerminal: false,
  })
  for (now = 0; now <= 12_000; now += 1_000) progress.at(`${now / 1000} of 12`)
  expect(lines).toEqual(['0 of 12', '5 of 12', '10 of 12'])
})
