/** `outhook worker` and the package `outhook-worker`, packed and installed, on a stack without functions. */

import { expect } from '@std/expect'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { version } from '../../functions/_shared/base/version.ts'
import { workerFlags } from '../../functions/_shared/runtime/node_runtime.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { createFirstTry } from '../_support/first_try.ts'
import { newNode, nodeCommand, oldestNode } from '../_support/node.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { leftIn, processesIn } from '../_support/processes_in.ts'
import { startWorker, type WorkerProcess } from '../_support/worker_process.ts'
import { docsBlock } from '../project/_docs.ts'
import { publishDry } from './_support/publish.ts'
import { type WorkerFolder, workerFolder } from './_support/worker_folder.ts'

let user: WorkerFolder
let outhook: TestOuthook

const firstTry = createFirstTry()
const deno = [Deno.execPath(), 'run', '-A', '--cached-only', '--no-lock']

Deno.test.beforeAll(async () => {
  user = await workerFolder({ command: true })
  outhook = await startOuthook({ functions: [], also: { held: firstTry.behaviour } })
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
  await user?.[Symbol.asyncDispose]()
})

/** The ways to start the worker, each with the name of a test. */
const ways: [name: string, command: () => Promise<string[]>][] = [
  ['the command under the oldest Node', async () => [await nodeCommand(oldestNode), ...command()]],
  ['the command under a new Node', async () => [await nodeCommand(newNode), ...command()]],
  ['the command under Deno', () => Promise.resolve([...deno, ...command()])],
  ['the library under the oldest Node', async () => [
    await nodeCommand(oldestNode),
    await program(),
  ]],
  ['the library under Deno', async () => [...deno, await program()]],
]

function command(): string[] {
  return [join(user.path, 'node_modules/outhook-command/outhook.js'), 'worker']
}

function program(): Promise<string> {
  return user.write('worker.mjs', docsBlock('package-worker.mjs'))
}

for (const [at, [name, way]] of ways.entries()) {
  Deno.test(`${name} delivers, and after SIGTERM finishes what it has begun`, async () => {
    const type = `work.t${at}`
    await outhook.createEndpoint(`/held/${at}`, { p_event_types: [type] })
    const worker: WorkerProcess = startWorker(outhook.stack.dbUrl, {}, await way())
    const told = Promise.withResolvers<void>()
    firstTry.act = async (): Promise<void> => {
      worker.kill('SIGTERM')
      await told.promise
    }
    const id = await outhook.publish(type)
    await outhook.requestsOf(id, 1)
    const isEnding = await waitUntil(async () => {
      const [run] = await outhook.sql`
        select ended_at is not null as ended from outbox.run order by started_at desc limit 1`
      return run?.ended
    }, { timeoutMs: patienceMs })
    told.resolve()
    expect([isEnding, await worker.ended, worker.log.filter((line) => !line.startsWith('{'))])
      .toEqual([true, 0, []])
    // Only the program of a user's own has no flags.
    const isWarned = worker.log.some((line) => line.includes('UV_THREADPOOL_SIZE'))
    expect(isWarned).toBe(name === 'the library under the oldest Node')
    expect(await outhook.outcomesOf(id)).toEqual(['1 delivered'])
  })
}

for (const [version, isReplaced] of [[oldestNode, false], [newNode, true]] as const) {
  Deno.test(`under Node ${version} outhook worker sets the flags, and dies with its parent`, async () => {
    const worker = startWorker(outhook.stack.dbUrl, {}, [await nodeCommand(version), ...command()])
    expect(
      await waitUntil(() => worker.log.some((line) => line.includes('worker started')), {
        timeoutMs: patienceMs,
      }),
    ).toBe(true)
    const running = (await processesIn(user.path)).filter((line) => line.includes('program.js'))
    expect(running).toEqual([expect.stringContaining(workerFlags.join(' '))])
    expect((await processesIn(user.path)).some((line) => line.endsWith('outhook.js worker ')))
      .toBe(!isReplaced)
    expect(worker.log.filter((line) => line.includes('UV_THREADPOOL_SIZE'))).toEqual([])
    worker.kill('SIGKILL')
    await worker.ended
    expect(await leftIn(user.path, patienceMs)).toEqual([])
  })
}

for (const version of [oldestNode, newNode]) {
  Deno.test(`under Node ${version} the worker ends with npx, which passes no signal on`, async () => {
    const node = dirname(await nodeCommand(version))
    const npx = ['npx', '--prefix', user.path, '--no', 'outhook', 'worker']
    const env = { PATH: `${node}:${Deno.env.get('PATH') ?? ''}` }
    const worker = startWorker(outhook.stack.dbUrl, env, ['env', ...npx])
    const has = (text: string) => (): boolean => worker.log.some((line) => line.includes(text))
    expect(await waitUntil(has('worker started'), { timeoutMs: patienceMs })).toBe(true)
    worker.kill('SIGTERM')
    expect(await waitUntil(has('run ended'), { timeoutMs: patienceMs })).toBe(true)
    expect(await leftIn(user.path, patienceMs)).toEqual([])
    await worker.ended
  })
}

for (const version of [oldestNode, newNode]) {
  Deno.test(`under Node ${version} outhook worker finishes its run when the terminal is closed`, async () => {
    const worker = startWorker(outhook.stack.dbUrl, {}, [await nodeCommand(version), ...command()])
    worker.kill('SIGHUP')
    expect(await worker.ended).toBe(0)
    expect(worker.log.some((line) => line.includes('run ended'))).toBe(true)
  })
}

Deno.test('outhook worker takes the database of --db-url, and names a missing or invalid variable', async () => {
  const rows: [args: string[], says: RegExp][] = [
    [[], /OUTHOOK_DB_URL is not set/],
    [['--db-url', 'mysql://user:p4ss@127.0.0.1/x'], /--db-url must start with postgresql/],
    [['--db-url', 'postgresql://user:p4ss@127.0.0.1/x'], /OUTHOOK_PROJECT is not set/],
  ]
  for (const [args, says] of rows) {
    const ended = await new Deno.Command(await nodeCommand(newNode), {
      args: [...command(), ...args],
      cwd: user.path,
      clearEnv: true,
      env: { PATH: Deno.env.get('PATH') ?? '' },
      stdin: 'null',
    }).output()
    const said = new TextDecoder().decode(ended.stderr)
    expect([args, ended.code, said]).toEqual([args, 2, expect.stringMatching(says)])
    expect(new TextDecoder().decode(ended.stdout)).toBe('')
    expect(said).not.toContain('p4ss')
  }
})

/** Runs `outhook workers` against the stack. */
async function listWorkers(...args: string[]): Promise<{ code: number; said: string }> {
  const { code, stdout, stderr } = await new Deno.Command(await nodeCommand(newNode), {
    args: [...command().slice(0, 1), 'workers', '--url', outhook.stack.apiUrl, ...args],
    cwd: user.path,
    clearEnv: true,
    env: {
      PATH: Deno.env.get('PATH') ?? '',
      SUPABASE_SECRET_KEY: outhook.stack.keys.secretKey,
    },
    stdin: 'null',
  }).output()
  return { code, said: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) }
}

Deno.test('outhook workers lists the workers of the database, and --health-port says when one is ready', async () => {
  // A worker that another test has killed counts as live until it has been silent for a while.
  await outhook.sql`delete from outbox.run`
  const way = [...deno, ...command(), '--health-port', '0']
  const workers = [1, 2].map(() => startWorker(outhook.stack.dbUrl, {}, way))
  try {
    for (const worker of workers) {
      const isReady = async (): Promise<boolean> => {
        const line = worker.log.find((one) => one.includes('health is served'))
        if (line === undefined) return false
        const response = await fetch(`http://127.0.0.1:${JSON.parse(line).port}/ready`)
        await response.body?.cancel()
        return response.ok
      }
      expect(await waitUntil(isReady, { timeoutMs: patienceMs })).toBe(true)
    }
    const shown = await listWorkers()
    expect(shown.code).toBe(0)
    expect(shown.said).toMatch(/^host +pid +version +contract +status +in flight +last minute/)
    expect(shown.said).toContain(`${hostname()} `)
    expect(shown.said).toContain('\n2 live on 1 host, ')
    const { workers: listed } = JSON.parse((await listWorkers('--json')).said)
    const [row] = await outhook.sql.unsafe(docsBlock('list-workers'))
    expect(row?.list_workers.workers.map(({ run }: { run: string }) => run))
      .toEqual(listed.map(({ run }: { run: string }) => run))
    expect(listed.map(({ status, version: named, in_flight }: Record<string, unknown>) => [
      status,
      named,
      in_flight,
    ])).toEqual([['live', version, 0], ['live', version, 0]])
  } finally {
    for (const worker of workers) worker.kill('SIGTERM')
    for (const worker of workers) await worker.ended
  }
  expect(await listWorkers()).toEqual({ code: 0, said: 'There are no workers\n' })
})

Deno.test('runWorker() rejects with the name of an invalid option', async () => {
  const program = await user.copy('worker_invalid.mjs')
  const { stdout } = await new Deno.Command(await nodeCommand(), { args: [program] }).output()
  expect(new TextDecoder().decode(stdout)).toMatch(/OUTHOOK_DB_URL/)
})

Deno.test('the package has modules, types and licences, no dependencies, and can be published', async () => {
  const { files, tarball, size, unpackedSize } = user.packed
  const others = files.map(({ path }) => path)
    .filter((path) => !/^(chunk-\w+\.js|types\/(worker|consume)\/\w+\.d\.ts)$/.test(path))
  expect(others.sort()).toEqual([
    ...['LICENSE', 'README.md', 'THIRD_PARTY_NOTICES.txt', 'consume.js', 'package.json'],
    'worker.js',
  ])
  const manifest = JSON.parse(
    await Deno.readTextFile(join(user.path, 'node_modules/outhook-worker/package.json')),
  )
  expect(Object.keys(manifest).filter((name) => /dependencies|scripts/i.test(name))).toEqual([])
  // At most a tenth more than when this was written.
  expect([size < 310_000, unpackedSize < 1_200_000]).toEqual([true, true])
  expect(await publishDry(tarball)).toContain('outhook-worker@')
})
