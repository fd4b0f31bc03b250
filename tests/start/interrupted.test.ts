/** Ctrl-C at each step of a first start: nothing runs on, nothing is half made, the next start works. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { cloneProject } from '../_support/clone.ts'
import { testFolder } from '../_support/folder.ts'
import { patienceMs } from '../_support/patience.ts'
import { leftIn } from '../_support/processes_in.ts'
import { runTask, startTask } from '../_support/task.ts'
import { startRegistry } from './registry.ts'

const folder = testFolder()
const clone = join(folder, 'clone')
const dataDir = join(folder, 'data')
const args = ['start', '--free-ports', '--data-dir', dataDir]

Deno.test.beforeAll(() => cloneProject(clone))
Deno.test.afterAll(async () => {
  await Deno.remove(folder, { recursive: true })
})

/** What the first start says, step by step, and the exit code of one that ends there. */
const steps: [line: RegExp, code: number, env: Record<string, string>][] = [
  [/^starting the local stack/, 130, {}],
  [/^fetching packages/, 130, { DENO_DIR: join(folder, 'empty cache') }],
  [/^creating a database in/, 130, {}],
  [/^applying migration 20251231000000/, 130, {}],
  [/^applying migration 20260101000000/, 130, {}],
  [/seed\.sql run$/, 130, {}],
  [/^starting the functions/, 130, {}],
  [/^publishing, in psql/, 130, {}],
  // It is up: to end it so is no failure.
  [/^ {2}select event_type, status/, 0, {}],
]

/** At these the program alone gets the signal too, as from `kill`: nobody else ends what it has started. */
const alone = [
  /^fetching packages/,
  /^creating a database in/,
  /^applying migration 20260101000000/,
]

for (const [line, code, env] of steps) {
  const isAlone = alone.some(({ source }) => source === line.source)
  for (const by of isAlone ? ['Ctrl-C', 'kill -INT'] as const : ['Ctrl-C'] as const) {
    Deno.test(`a first start that ${by} ends at "${line.source}" leaves nothing`, async () => {
      const task = startTask({ args: [...args, '--fresh'], cwd: clone, env, ownGroup: true })
      await task.line(line)
      if (by === 'kill -INT') task.kill('SIGINT')
      else await task.interruptGroup()
      const ended = await task.ended
      expect(ended.stderr.replace(/^fetching packages.*\n/gm, '')).toBe('')
      expect(ended.code).toBe(code)
      expect(await leftIn(folder, 2_000)).toEqual([])
      expect(await halfMade()).toEqual([])
    })
  }
}

Deno.test('a start that Ctrl-C ends amid the fetching leaves a cache that the next one completes', async () => {
  const registry = await startRegistry()
  const cache = join(folder, 'half a cache')
  const env = {
    DENO_DIR: cache,
    // The person's npmrc may name another registry.
    HOME: join(folder, 'home'),
    npm_config_userconfig: '',
    NPM_CONFIG_USERCONFIG: '',
    NPM_CONFIG_REGISTRY: registry.url,
    NO_PROXY: '127.0.0.1',
    no_proxy: '',
  }
  try {
    const held = registry.hold(5)
    const task = startTask({ args: [...args, '--fresh'], cwd: clone, env, ownGroup: true })
    await held
    await waitUntil(async () => (await packagesIn(cache)).length > 0, { timeoutMs: patienceMs })
    await task.interruptGroup()
    expect((await task.ended).code).toBe(130)
    expect(await leftIn(folder, 2_000)).toEqual([])
    const half = await packagesIn(cache)
    expect(half.length).toBeGreaterThan(0)
    expect(half.length).toBeLessThanOrEqual(5)
    registry.letGo()
    const { code, stderr } = await runTask({ args: [...args, '--once'], cwd: clone, env })
    expect(stderr.replace(/^(fetching packages.*|packages fetched in .*)\n/gm, '')).toBe('')
    expect(code).toBe(0)
    expect((await packagesIn(cache)).length).toBeGreaterThan(5)
  } finally {
    registry.letGo()
    await registry.close()
  }
})

Deno.test('the start after all of these works', async () => {
  const { code, stderr } = await runTask({ args: [...args, '--once'], cwd: clone })
  expect(stderr).toBe('')
  expect(code).toBe(0)
})

/** The packages that are whole in a cache of Deno's: each has its description. */
async function packagesIn(cache: string): Promise<string[]> {
  const { stdout } = await new Deno.Command('find', {
    args: [join(cache, 'npm'), '-name', 'package.json', '-not', '-path', '*.tmp/*'],
    stderr: 'null',
  }).output()
  const paths = new TextDecoder().decode(stdout).split('\n')
  return paths.filter((path) => /\/\d+\.\d+\.\d+[^/]*\/package\.json$/.test(path))
}

/** What lies in the data folder and is not whole. */
async function halfMade(): Promise<string[]> {
  try {
    const names = (await Array.fromAsync(Deno.readDir(dataDir))).map(({ name }) => name)
    return names.filter((name) => /making|password|draft|^socket$/.test(name))
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return []
    throw error
  }
}
