/** Ctrl-C ends a run at once, whatever its parts are doing. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { patienceMs } from '../_support/patience.ts'

/** A pgTAP file that runs for most of a minute. */
const slowFile = 'tests/sql/engine/plans/million.test.sql'

/** The processes below `pid` with their command lines. */
async function descendants(pid: number): Promise<Map<number, string>> {
  const children = new Map<number, number[]>()
  for await (const { name } of Deno.readDir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    // The name of the program, in parentheses, may hold anything.
    const stat = await Deno.readTextFile(`/proc/${name}/stat`).catch(() => '')
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    children.set(parent, [...children.get(parent) ?? [], Number(name)])
  }
  const found = new Map<number, string>()
  const waiting = [...children.get(pid) ?? []]
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    const command = await Deno.readTextFile(`/proc/${one}/cmdline`).catch(() => '')
    if (command !== '') found.set(one, command)
    waiting.push(...children.get(one) ?? [])
  }
  return found
}

Deno.test({
  name: 'SIGINT to the runner during pgTAP ends it and all that it started, before the file ends',
  ignore: Deno.build.os !== 'linux',
  async fn(): Promise<void> {
    const runner = new Deno.Command(Deno.execPath(), {
      args: ['run', '-A', '--quiet', '--cached-only', '--no-check', 'tests/run.ts', slowFile],
      cwd: projectRoot,
      env: { NO_COLOR: '1' },
      stdin: 'null',
      stdout: 'piped',
      stderr: 'piped',
    }).spawn()
    const output = Promise.all([runner.stdout, runner.stderr].map((stream) => {
      return new Response(stream).text()
    }))
    let running = new Map<number, string>()
    const isBusy = async (): Promise<boolean> => {
      running = await descendants(runner.pid)
      return [...running.values()].some((command) =>
        command.includes(slowFile) && /psql/.test(command)
      )
    }
    expect(await waitUntil(isBusy, { timeoutMs: patienceMs })).toBe(true)
    runner.kill('SIGINT')
    const { code } = await runner.status
    const [said = '', errors = ''] = await output
    expect([code, errors]).toEqual([130, 'Stopping on SIGINT\n'])
    expect(said).not.toMatch(/passed/)
    const alive = async (): Promise<string[]> => {
      const commands = await Promise.all([...running.keys()].map((pid) => {
        return Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => '')
      }))
      return commands.filter((command) => command !== '')
    }
    expect(await waitUntil(async () => (await alive()).length === 0, { timeoutMs: patienceMs }))
      .toBe(true)
  },
})
