/** A start that cannot come up: its cause, in one sentence, and code 1. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { lockFolder } from '../../supabase/local/process/lock.ts'
import { freePort } from '../../supabase/local/process/ports.ts'
import { startProgress } from '../../supabase/local/progress.ts'
import { cloneProject } from '../_support/clone.ts'
import { testFolder } from '../_support/folder.ts'
import { leftIn } from '../_support/processes_in.ts'
import { runTask, startTask } from '../_support/task.ts'
import { startConnectProxy } from '../functions/connect_proxy.ts'

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

/** Counts the starts of a function, which requests `url` in each; the time of each, in ms. */
function startCounter(
  onStart: (count: number) => void = () => {},
): { url: string; times: number[]; close(): Promise<void> } {
  const times: number[] = []
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, () => {
    onStart(times.push(performance.now()))
    return new Response()
  })
  return { url: `http://127.0.0.1:${server.addr.port}/`, times, close: () => server.shutdown() }
}

Deno.test('the third failed start of a function ends the start, which names it and its error', async () => {
  const starts = startCounter()
  const code = `await (await fetch('${starts.url}')).text()\nthrow new Error('no such luck')\n`
  await using _ = await replaced('functions/deliver/index.ts', code)
  try {
    const { code, stdout, stderr } = await runTask({ args: start, cwd: clone })
    const endedAt = performance.now()
    expect(code).toBe(1)
    const reason = 'its code failed while it was loaded: correct it (code 1)\n' +
      '  error: Uncaught (in promise) Error: no such luck\n' +
      "  throw new Error('no such luck')\n"
    expect(stderr).toBe(`The function deliver does not start (3 attempts): ${reason}`)
    expect(starts.times.length).toBe(3)
    expect(endedAt - (starts.times[2] ?? 0)).toBeLessThan(10_000)
    expect(stdout.split('[deliver] does not start').length).toBe(2)
    // It waits for no event, because it publishes none.
    expect(stdout).not.toContain('publishing')
    expect(await leftIn(folder, 2_000)).toEqual([])
  } finally {
    await starts.close()
  }
})

Deno.test('its message comes before the stop, and a stop that hangs does not hold the end', async () => {
  let server = 0
  // The database server starts no session and takes no signal, so that nothing can be stopped.
  const starts = startCounter((count) => {
    if (count < 3) return
    server = Number(Deno.readTextFileSync(join(dataDir, 'pg/postmaster.pid')).split('\n')[0])
    Deno.kill(server, 'SIGSTOP')
  })
  const goOn = (): void => {
    if (server !== 0) Deno.kill(server, 'SIGCONT')
    server = 0
  }
  const code = `await (await fetch('${starts.url}')).text()\nthrow new Error('no such luck')\n`
  await using _ = await replaced('functions/deliver/index.ts', code)
  const atLast = setTimeout(goOn, 30_000)
  try {
    const task = startTask({ args: start, cwd: clone })
    await task.line(/^The function deliver does not start \(3 attempts\)/)
    expect(server).toBeGreaterThan(0)
    expect((await task.ended).code).toBe(1)
    expect(performance.now() - (starts.times[2] ?? 0)).toBeLessThan(10_000)
  } finally {
    clearTimeout(atLast)
    goOn()
    await starts.close()
  }
  expect(await leftIn(folder, 30_000)).toEqual([])
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

for (const [purpose, usual] of [['API', '54321'], ['database', '54322']] as const) {
  Deno.test(`a taken ${purpose} port ends the start before anything is fetched, with the way out`, async () => {
    using taken = Deno.listen({ hostname: '127.0.0.1', port: 0 })
    const config = await Deno.readTextFile(join(clone, 'supabase/config.toml'))
    const port = String(taken.addr.port)
    // The other port is free whatever else runs on this machine.
    const free = freePort()
    const changed = config.replace(usual, port)
      .replace(purpose === 'API' ? '54322' : '54321', String(free))
    await using _ = await replaced('supabase/config.toml', changed)
    const proxy = startConnectProxy({ status: 502 })
    try {
      const { code, stdout, stderr } = await runTask({
        args: ['start', '--once', '--data-dir', join(folder, 'new')],
        cwd: clone,
        env: { HTTPS_PROXY: proxy.url, https_proxy: '', DENO_DIR: join(folder, 'no packages') },
      })
      expect(code).toBe(1)
      expect(stderr).toBe(
        `port ${port} (${purpose}) is taken, perhaps by another copy of this stack or by ` +
          '`supabase start`: stop that, or run with --free-ports\n',
      )
      expect(stdout).toBe('starting the local stack and a first event\n')
      expect(proxy.asked).toEqual([])
      expect(await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).not.toContain('new')
    } finally {
      await proxy.close()
    }
  })
}

Deno.test('a second copy on the same folder names the first, whose ports are taken too', async () => {
  using taken = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const config = await Deno.readTextFile(join(clone, 'supabase/config.toml'))
  await using _ = await replaced(
    'supabase/config.toml',
    config.replace('54321', String(taken.addr.port)),
  )
  await Deno.mkdir(dataDir, { recursive: true })
  const lock = await lockFolder(dataDir, 'stack')
  try {
    const { code, stderr } = await runTask({ args: ['stack', '--data-dir', dataDir], cwd: clone })
    expect(code).toBe(1)
    expect(stderr).toMatch(
      new RegExp(
        `is in use by another copy of this stack \\(pid ${Deno.pid}\\): stop that one first`,
      ),
    )
  } finally {
    lock.release()
  }
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

for (
  const [task, line] of [
    ['stack', 'starting the local stack'],
    ['start', 'starting the local stack and a first event'],
  ]
) {
  Deno.test(`the first line of ${task} comes before it opens a file or starts a program`, async () => {
    // Without any permission the first attempt of either kind ends it.
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ['run', '--no-prompt', '--cached-only', 'supabase/local/begin.ts', task ?? ''],
      cwd: clone,
      env: { NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' },
      stdin: 'null',
    }).output()
    expect(new TextDecoder().decode(stdout)).toBe(`${line}\n`)
    expect(new TextDecoder().decode(stderr)).toContain('NotCapable')
    expect(code).toBe(1)
  })
}

Deno.test('the stack comes up on what is left of the above, and a restart speaks first too', async () => {
  for (const fresh of [['--fresh'], []]) {
    const args = ['stack', ...fresh, '--free-ports', '--data-dir', dataDir]
    const task = startTask({ args, cwd: clone })
    expect(await task.line(/./)).toBe('starting the local stack')
    await task.line(/^The stack is up/)
    task.kill('SIGTERM')
    expect((await task.ended).code).toBe(0)
  }
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
