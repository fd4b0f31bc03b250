/** `task build:worker`: the file, its flags, and the kinds of endpoints that another module adds. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { workerFlags, workerThreads } from '../../functions/_shared/runtime/node_runtime.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { testFolder } from '../_support/folder.ts'
import { builtForNode, newNode, nodeCommand, oldestNode } from '../_support/node.ts'
import { runTask } from '../_support/task.ts'

/** What a program says that prints its flags; `threads` is null where they cannot be counted. */
type Said = {
  pid: number
  flags: string[]
  args: string[]
  threads: number | null
  problem: string | null
}

async function run(
  command: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<Said & { child: number }> {
  const child = new Deno.Command(command, { args, env, stdin: 'null', stdout: 'piped' }).spawn()
  const { success, stdout } = await child.output()
  expect(success).toBe(true)
  return { ...JSON.parse(new TextDecoder().decode(stdout)), child: child.pid }
}

Deno.test('the flags of a worker are the same under both runtimes', async () => {
  // SAFETY: tasks.test.ts checks the form of each task.
  const { tasks } = JSON.parse(await Deno.readTextFile(join(projectRoot, 'deno.json'))) as {
    tasks: { worker: { command: string } }
  }
  const flags = /--v8-flags=(\S+)/.exec(tasks.worker.command)?.[1]?.split(',')
  expect(flags).toEqual([...workerFlags])
})

Deno.test('a bundle that is started as a program has the flags and enough threads for look-ups of names', async () => {
  const said = await run(await builtForNode('tests/_support/node_flags.ts'), ['a', 'b c'])
  expect(said).toMatchObject({ flags: [...workerFlags], args: ['a', 'b c'], problem: null })
  expect(said.threads ?? Infinity).toBeGreaterThan(workerThreads)
})

for (const version of [oldestNode, newNode]) {
  const canReplace = version === newNode
  Deno.test(`a bundle that Node ${version} starts without flags ${canReplace ? 'replaces its process' : 'says that it has few threads'}`, async () => {
    const program = await builtForNode('tests/_support/node_flags.ts')
    const said = await run(await nodeCommand(version), ['--stack-size=900', program, 'a', 'b c'])
    const flags = ['--stack-size=900', ...canReplace ? workerFlags : []]
    expect(said).toMatchObject({ pid: said.child, flags, args: ['a', 'b c'] })
    if (canReplace) expect(said.threads ?? Infinity).toBeGreaterThan(workerThreads)
    expect(said.problem).toEqual(
      canReplace ? null : expect.stringContaining(`UV_THREADPOOL_SIZE=${workerThreads}`),
    )
  })
}

Deno.test('a bundle replaces its process at most once, and keeps the number of threads of the operator', async () => {
  const program = await builtForNode('tests/_support/node_flags.ts')
  const node = await nodeCommand(newNode)
  const again = await run(node, [program], { OUTHOOK_RESTARTED: '1' })
  expect(again).toMatchObject({ flags: [], problem: expect.stringContaining('4 threads') })
  const own = await run(node, [program], { UV_THREADPOOL_SIZE: '8' })
  expect(own).toMatchObject({ flags: [...workerFlags], problem: null })
  expect(own.threads ?? 0).toBeLessThan(workerThreads)
})

Deno.test('task build:worker writes one executable file with everything, for a module of another kind too', async () => {
  const folder = testFolder()
  try {
    for (const entry of [[], ['--entry', 'tests/modules/example_kind/worker.ts']]) {
      const output = join(folder, `${entry.length}`, 'worker.mjs')
      const built = await runTask({ args: ['build:worker', ...entry, '--output', output] })
      expect(built).toMatchObject({ code: 0, stdout: expect.stringContaining(`Wrote ${output}`) })
      // Its folder has nothing else, so it cannot read a package.
      const started = await new Deno.Command(output, {
        cwd: '/',
        clearEnv: true,
        env: { PATH: Deno.env.get('PATH') ?? '' },
        stdin: 'null',
      }).output()
      expect(new TextDecoder().decode(started.stdout)).toContain('OUTHOOK_DB_URL is not set')
      expect(new TextDecoder().decode(started.stderr)).toBe('')
      expect(started.code).toBe(2)
    }
  } finally {
    await Deno.remove(folder, { recursive: true })
  }
})

Deno.test('task build:worker names a module that is not there, or not of this project', async () => {
  for (const entry of ['functions/nowhere.ts', '/etc/hostname']) {
    const { code, stderr } = await runTask({ args: ['build:worker', '--entry', entry] })
    expect(code).toBe(1)
    expect(stderr).toContain(entry)
  }
})
