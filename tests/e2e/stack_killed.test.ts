/**
 * `deno task stack`, killed with -9 at any moment, starts again; what it had started does not stay.
 */

import { expect } from '@std/expect'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { sweepTestFolders, testFolder } from '../_support/folder.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs } from '../_support/patience.ts'

const MAIN = fileURLToPath(import.meta.resolve('../../supabase/local/main.ts'))

/** A stack in a process of its own. */
interface StackProcess {
  /** The connection string once the stack says that it is up; null when it ends before. */
  readonly up: Promise<string | null>
  /** Everything that it has written. */
  output(): string
  kill(signal: Deno.Signal): void
  /** Resolves with the exit code, or null after a signal. */
  readonly ended: Promise<number | null>
}

function run(dataDir: string, ...args: string[]): StackProcess {
  const child = new Deno.Command(Deno.execPath(), {
    args: ['run', '-A', '--cached-only', MAIN, '--free-ports', '--data-dir', dataDir, ...args],
    stdin: 'null',
    stdout: 'piped',
    stderr: 'piped',
    env: { NO_COLOR: '1' },
  }).spawn()
  const lines: string[] = []
  const up = Promise.withResolvers<string | null>()
  const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> => {
    for await (const line of createInterface({ input: Readable.from(stream) })) {
      lines.push(line)
      const url = line.match(/^ {2}\S*psql -P pager=off -v SHOW_CONTEXT=never (postgresql:\S+)$/)
        ?.[1]
      if (url !== undefined) up.resolve(url)
    }
  }
  const ended = Promise.all([child.status, read(child.stdout), read(child.stderr)])
    .then(([status]) => status.signal === null ? status.code : null)
  ended.then(() => up.resolve(null))
  return {
    up: up.promise,
    output: () => lines.join('\n'),
    kill: (signal) => child.kill(signal),
    ended,
  }
}

/** Starts a stack, waits until it is up, and says why when it is not. */
async function runUp(
  dataDir: string,
  ...args: string[]
): Promise<StackProcess & { dbUrl: string }> {
  const stack = run(dataDir, ...args)
  const dbUrl = await stack.up
  if (dbUrl === null) throw new Error(`the stack did not start:\n${stack.output()}`)
  return { ...stack, dbUrl }
}

async function psql(url: string, sql: string): Promise<string> {
  const output = await new Deno.Command('psql', { args: ['-X', '-q', '-At', '-c', sql, url] })
    .output()
  expect(new TextDecoder().decode(output.stderr)).toBe('')
  return new TextDecoder().decode(output.stdout).trim()
}

/** Processes whose command line names the folder. */
async function processesOf(folder: string): Promise<number[]> {
  const pids: number[] = []
  for await (const { name } of Deno.readDir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const words = await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => '')
    if (words.includes(folder)) pids.push(Number(name))
  }
  return pids
}

async function nothingLeft(folder: string): Promise<boolean> {
  return await waitUntil(async () => (await processesOf(folder)).length === 0, {
    timeoutMs: patienceMs,
    everyMs: 100,
  })
}

/** A data folder that is gone, with whatever runs in it, when the test ends. */
async function folder(): Promise<AsyncDisposable & { path: string }> {
  await sweepTestFolders()
  const path = testFolder()
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      for (const pid of await processesOf(path)) Deno.kill(pid, 'SIGKILL')
      await nothingLeft(path)
      await Deno.remove(path, { recursive: true }).catch(() => {})
    },
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

Deno.test('a stack killed while it makes its database starts again', async () => {
  await using data = await folder()
  // How long a first start takes on this machine decides where its moments lie.
  const before = performance.now()
  const whole = await runUp(data.path)
  const startMs = performance.now() - before
  whole.kill('SIGKILL')
  await whole.ended
  for (let step = 1; step <= 6; step++) {
    const stack = run(data.path, '--fresh')
    await delay(startMs * step / 6.5)
    stack.kill('SIGKILL')
    await stack.ended
  }
  const last = await runUp(data.path)
  expect(await psql(last.dbUrl, `select vault.create_secret('x') is not null`)).toBe('t')
  last.kill('SIGTERM')
  expect(await last.ended).toBe(0)
  expect(await nothingLeft(data.path)).toBe(true)
})

Deno.test('a stack killed while it works keeps what was committed', async () => {
  await using data = await folder()
  const first = await runUp(data.path)
  await psql(first.dbUrl, 'create table public.kept (n integer)')
  await psql(first.dbUrl, 'insert into public.kept select generate_series(1, 1000)')
  first.kill('SIGKILL')
  await first.ended
  // At once: the first one's server may still be shutting down.
  const second = await runUp(data.path)
  expect(await psql(second.dbUrl, 'select count(*) from public.kept')).toBe('1000')
  second.kill('SIGKILL')
  await second.ended
  expect(await nothingLeft(data.path)).toBe(true)
})

Deno.test('a server that outlived its stack and its watchdog is stopped by the next start', async () => {
  await using data = await folder()
  const first = await runUp(data.path)
  const server = Number((await Deno.readTextFile(`${data.path}/pg/postmaster.pid`)).split('\n')[0])
  // The watchdog is the shells; the server stays when all of them die with the stack.
  for (const pid of await processesOf(data.path)) {
    const words = await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => '')
    if (words.startsWith('sh\0')) Deno.kill(pid, 'SIGKILL')
  }
  first.kill('SIGKILL')
  await first.ended
  expect(await processesOf(data.path)).toContain(server)
  const second = await runUp(data.path)
  expect(await processesOf(data.path)).not.toContain(server)
  second.kill('SIGTERM')
  expect(await second.ended).toBe(0)
  expect(await nothingLeft(data.path)).toBe(true)
})

Deno.test('a stack whose database server is killed says so, ends, and starts again', async () => {
  await using data = await folder()
  const first = await runUp(data.path)
  const server = Number((await Deno.readTextFile(`${data.path}/pg/postmaster.pid`)).split('\n')[0])
  Deno.kill(server, 'SIGKILL')
  expect(await first.ended).toBe(1)
  expect(first.output()).toContain('the database server ended')
  const second = await runUp(data.path)
  second.kill('SIGINT')
  expect(await second.ended).toBe(0)
  expect(second.output()).toContain('stopping')
  expect(await nothingLeft(data.path)).toBe(true)
})

/** The process may end between the look and the kill. */
function killIfAlive(stack: { kill(signal: Deno.Signal): void }): void {
  try {
    stack.kill('SIGKILL')
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
}

Deno.test('a stack killed while it stops starts again', async () => {
  await using data = await folder()
  for (const ms of [0, 20, 60]) {
    const stack = await runUp(data.path)
    stack.kill('SIGTERM')
    // A quiet machine may be done by then, which is as good.
    const isDone = await Promise.race([delay(ms).then(() => false), stack.ended.then(() => true)])
    if (!isDone) killIfAlive(stack)
    await stack.ended
  }
  const last = await runUp(data.path)
  last.kill('SIGTERM')
  expect(await last.ended).toBe(0)
  expect(await nothingLeft(data.path)).toBe(true)
})
