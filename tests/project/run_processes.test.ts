import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { findLeftovers, runMark, stopLeftovers } from '../_run/leftovers.ts'
import { run } from '../_run/processes.ts'

const linux = Deno.build.os === 'linux'

Deno.test({
  name: 'stopLeftovers() stops what carries the mark, grandchildren included, and nothing else',
  ignore: !linux,
  async fn(): Promise<void> {
    const [mark, other] = [crypto.randomUUID(), crypto.randomUUID()]
    const spawn = (value: string): Deno.ChildProcess =>
      new Deno.Command('sh', {
        args: ['-c', 'sleep 60 & wait'],
        env: { [runMark]: value },
        stdin: 'null',
      }).spawn()
    const [ours, theirs] = [spawn(mark), spawn(other)]
    while ((await findLeftovers(mark)).length < 2 || (await findLeftovers(other)).length < 2) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(await stopLeftovers(mark, 0)).toHaveLength(2)
    await ours.status
    expect(await findLeftovers(mark)).toEqual([])
    expect(await findLeftovers(other)).toHaveLength(2)
    await stopLeftovers(other, 0)
    await theirs.status
  },
})

Deno.test('run() ends although a process that was left behind holds the output open', async () => {
  const mark = crypto.randomUUID()
  const ended = await run({
    path: 'sh',
    args: ['-c', 'echo before; sleep 60 & exit 3'],
    cwd: projectRoot,
    env: { [runMark]: mark },
  })
  expect(ended).toEqual({ code: 3, signal: null, output: 'before\n' })
  await stopLeftovers(mark, 0)
})

Deno.test('run() kills what has not ended at its limit, and says so', async () => {
  const ended = await run({
    path: 'sh',
    args: ['-c', 'echo before; exec sleep 60'],
    cwd: projectRoot,
    limitMs: 500,
  })
  const output = 'before\n\nStopped, because it had not ended after 0.5 s\n'
  expect(ended).toEqual({ code: 137, signal: 'SIGKILL', output })
})

Deno.test('run() ends with 127 when there is no such program', async () => {
  const ended = await run({ path: 'no-such-program', args: [], cwd: projectRoot })
  expect(ended.code).toBe(127)
})

Deno.test('the runner fails and says so when a filter selects nothing, from whatever folder', async () => {
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      'run',
      '-A',
      '--cached-only',
      join(projectRoot, 'tests/run.ts'),
      '--soak',
      'no such test, ever',
    ],
    cwd: '/',
    stdin: 'null',
  }).output()
  const text = new TextDecoder().decode(stdout)
  expect(text).toContain('No test file and no test name contains "no such test, ever"')
  expect(text).toMatch(/^0 passed, 0 failed$/m)
  expect(code).toBe(1)
})
