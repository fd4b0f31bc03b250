/** A function's process: its environment and rights, its restarts and its end. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { backoffMs } from '../../supabase/local/functions/backoff.ts'
import { readFunctionConfigs, startFunctions } from '../../supabase/local/functions/mod.ts'
import type { Functions } from '../../supabase/local/functions/mod.ts'
import { isAlive } from '../../supabase/local/process/identity.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { testFolder } from '../_support/folder.ts'
import { patienceMs } from '../_support/patience.ts'
import { fixtureProject } from './fixtures/gateway.ts'

const BOOT_MS = 20_000
const log: string[] = []
let functions: Functions

Deno.test.beforeAll(async () => {
  functions = await startFunctions({
    configs: await readFunctionConfigs(fixtureProject),
    projectDir: fixtureProject,
    env: { SUPABASE_URL: 'http://127.0.0.1:1', OUTHOOK_WORKER_SECRET: 's' },
    log: (line) => log.push(line),
  })
})
Deno.test.afterAll(async () => {
  await functions.stop()
})

async function origin(name: string): Promise<string> {
  const found = await functions.targets.get(name)?.origin(BOOT_MS)
  if (!found) throw new Error(`${name} is not up: ${log.join('\n')}`)
  return found
}

async function get(path: string): Promise<Response> {
  return await fetch(`${await origin('echo')}/echo/${path}`)
}

Deno.test('a process has the environment given and its own slug', async () => {
  const env = await (await get('env')).json()
  expect(env).toMatchObject({
    SUPABASE_URL: 'http://127.0.0.1:1',
    OUTHOOK_WORKER_SECRET: 's',
    SUPABASE_FUNCTION_SLUG: 'echo',
  })
  expect(env).not.toHaveProperty('PWD')
})

Deno.test('a process may neither write nor run programs', async () => {
  const { write, run } = await (await get('rights')).json()
  expect([write, run]).not.toContain('granted')
})

Deno.test('a default export with a fetch is served', async () => {
  const response = await fetch(`${await origin('guarded')}/guarded/x`)
  expect(await response.json()).toEqual({ path: '/guarded/x' })
})

Deno.test('EdgeRuntime.waitUntil() is there, and a failed task reaches the log', async () => {
  expect(await (await get('later')).text()).toBe('function')
  expect(
    await waitUntil(
      () => log.includes('[echo] background task failed: Error: expected by the test'),
      { timeoutMs: patienceMs },
    ),
  ).toBe(true)
})

Deno.test('a killed process is started again at once', async () => {
  await origin('echo')
  const before = functions.pid('echo')
  functions.kill('echo')
  expect((await get('rights')).status).toBe(200)
  expect(functions.pid('echo')).not.toBe(before)
})

Deno.test('a process leaves Ctrl-C to its supervisor, which alone ends it', async () => {
  await origin('echo')
  const before = functions.pid('echo')
  for (const signal of ['SIGINT', 'SIGHUP'] as const) functions.kill('echo', signal)
  for (let asked = 0; asked < 5; asked++) expect((await get('rights')).status).toBe(200)
  expect(functions.pid('echo')).toBe(before)
  expect(log.filter((line) => /^\[echo\] process ended \(SIG(INT|HUP)\)/.test(line))).toEqual([])
})

Deno.test('a function that cannot start prints its error once, however often the stack tries', async () => {
  const failure = await functions.failed
  expect(failure).toMatchObject({ name: 'broken', starts: 3 })
  expect(failure.reason).toBe(
    'its code failed while it was loaded: correct it (code 1)\n' +
      '  error: Uncaught (in promise) Error: broken on purpose\n' +
      "  throw new Error('broken on purpose')",
  )
  expect(await functions.targets.get('broken')?.origin(0)).toBe(null)
  expect(log.filter((line) => line.startsWith('[broken]'))).toEqual([
    `[broken] does not start: ${failure.reason}`,
  ])
})

const silent = {
  'never calls Deno.serve()': `export const loaded = true\n`,
  'waits before Deno.serve()': `await new Promise(() => {})\nDeno.serve(() => new Response())\n`,
}

for (const [what, code] of Object.entries(silent)) {
  Deno.test(`a function that ${what} is stopped, and that counts as a failed start`, async () => {
    const projectDir = testFolder()
    await Deno.mkdir(projectDir)
    try {
      const entrypoint = join(projectDir, 'index.ts')
      await Deno.writeTextFile(entrypoint, code)
      const told: string[] = []
      const one = await startFunctions({
        configs: [{ name: 'silent', verifyJwt: false, entrypoint, importMap: null }],
        projectDir,
        env: {},
        listenWithinMs: 1_000,
        log: (line) => told.push(line),
      })
      const failure = await one.failed
      expect(one.pid('silent')).toBe(null)
      await one.stop()
      const reason = 'it did not listen within 1 s: its module must call Deno.serve(), and must ' +
        'not wait long before that'
      expect(failure).toEqual({ name: 'silent', starts: 3, reason })
      expect(told).toEqual([`[silent] does not start: ${reason}`])
    } finally {
      await Deno.remove(projectDir, { recursive: true })
    }
  })
}

Deno.test('backoffMs() doubles from 250 ms up to 30 s', () => {
  expect([1, 2, 3, 4, 7, 8, 100].map(backoffMs)).toEqual([
    250,
    500,
    1000,
    2000,
    16_000,
    30_000,
    30_000,
  ])
})

Deno.test('an unknown name is an error that lists the known ones', () => {
  expect(() => functions.pid('nobody')).toThrow('echo, guarded, broken')
})

Deno.test('processes end when their supervisor is killed with -9', async () => {
  const supervisor = new Deno.Command(Deno.execPath(), {
    args: [
      'run',
      '-A',
      '--quiet',
      '--cached-only',
      fileURLToPath(new URL('fixtures/supervisor.ts', import.meta.url)),
    ],
    stdout: 'piped',
  }).spawn()
  const reader = supervisor.stdout.pipeThrough(new TextDecoderStream()).getReader()
  const pids = ((await reader.read()).value ?? '').trim().split(' ').map(Number)
  expect(pids.filter((pid) => pid > 0).length).toBe(2)
  supervisor.kill('SIGKILL')
  await supervisor.status
  await reader.cancel()
  for (const pid of pids) {
    expect(await waitUntil(async () => !await isAlive(pid), { timeoutMs: patienceMs })).toBe(true)
  }
})

Deno.test('stop() ends every process', async () => {
  await origin('echo')
  const pids = ['echo', 'guarded'].map((name) => functions.pid(name) ?? 0)
  await functions.stop()
  for (const pid of pids) expect(await isAlive(pid)).toBe(false)
  expect(await functions.targets.get('echo')?.origin(BOOT_MS)).toBe(null)
})
