/**
 * The recipes of images in deploy/container. There is no engine here: the test does by hand what their lines say,
 * in a plain folder, and starts the command as their user. What an engine alone does is not tested: the base image,
 * the layers, and the namespaces of a container.
 */

import { expect } from '@std/expect'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { buildWorker } from '../../package/build/worker.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { createFirstTry } from '../_support/first_try.ts'
import { builtForNode, newNode, nodeCommand } from '../_support/node.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startWorker, workerModule, type WorkerProcess } from '../_support/worker_process.ts'
import { asUser, carryOut, type Container, readContainerfile } from './_support/containerfile.ts'

const recipes = join(projectRoot, 'deploy/container')
const names = ['Containerfile', 'Containerfile.deno', 'Containerfile.package'] as const
const firstTry = createFirstTry()
let outhook: TestOuthook
let folder: string

/** Where another user can read, unlike the folder of the project, which may be in a home. */
Deno.test.beforeAll(async () => {
  folder = await Deno.makeTempDir({ prefix: 'outhook-container-' })
  await Deno.chmod(folder, 0o755)
  await Deno.mkdir(join(folder, 'context'))
  await Deno.mkdir(join(folder, 'bin'))
  await Deno.copyFile(await nodeCommand(newNode), join(folder, 'bin/node'))
  await Deno.copyFile(Deno.execPath(), join(folder, 'bin/deno'))
  await Deno.copyFile(await builtForNode(workerModule), join(folder, 'context/worker.mjs'))
  const { tarball } = await buildWorker(projectRoot, join(folder, 'dist'))
  await Deno.copyFile(tarball, join(folder, 'context/package.tgz'))
  await Deno.copyFile(join(recipes, 'program.mjs'), join(folder, 'context/program.mjs'))
  outhook = await startOuthook({ functions: [], also: { held: firstTry.behaviour } })
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
  if (folder !== undefined) await Deno.remove(folder, { recursive: true })
})

/** Where npm is on this machine, if not beside the other programs: the base image of Node.js has it. */
function npmFolder(): string {
  const folders = (Deno.env.get('PATH') ?? '').split(':')
  const found = folders.find((one) => existsSync(join(one, 'npm')))
  return found === undefined ? '' : `:${found}`
}

async function build(name: typeof names[number]): Promise<Container> {
  const lines = readContainerfile(await Deno.readTextFile(join(recipes, name)))
  return await carryOut(lines, {
    context: join(folder, 'context'),
    root: join(folder, name),
    path: `${join(folder, 'bin')}:/usr/bin:/bin${npmFolder()}`,
  })
}

function start({ env, ...container }: Container): WorkerProcess {
  const variables = {
    PATH: `${join(folder, 'bin')}:/usr/bin:/bin`,
    ...env,
    OUTHOOK_DB_URL: outhook.stack.dbUrl,
    OUTHOOK_PROJECT: 'local',
    // The port of the recipe may be in use on this machine.
    OUTHOOK_HEALTH_PORT: '0',
  }
  return startWorker('', {}, asUser({ env, ...container }, variables))
}

/** The port of the log, once it is there. */
async function portOf(worker: WorkerProcess): Promise<number> {
  let port: number | undefined
  await waitUntil(() => {
    const line = worker.log.find((one) => one.includes('health is served'))
    if (line !== undefined) port = JSON.parse(line).port
    return port !== undefined
  }, { timeoutMs: patienceMs })
  if (port === undefined) throw new Error(`no port in ${worker.log.join('\n')}`)
  return port
}

async function health(port: number, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`)
  return `${response.status} ${(await response.text()).trim()}`
}

async function listed(): Promise<{ pid: string; status: string; in_flight: number }[]> {
  const [row] = await outhook.sql`select outbox.list_workers() -> 'workers' as workers`
  return row?.workers
}

for (const [at, name] of names.entries()) {
  Deno.test(`${name} starts a worker as its user, which is ready, and drains at its signal`, async () => {
    const container = await build(name)
    const before = (await Array.fromAsync(Deno.readDir(container.cwd))).map((file) => file.name)
    const type = `contained.t${at}`
    await outhook.createEndpoint(`/held/${at}`, { p_event_types: [type] })
    const worker = start(container)
    let isOver = false
    worker.ended.then(() => isOver = true)
    try {
      const port = await portOf(worker)
      const isReady = async (): Promise<boolean> => await health(port, '/ready') === '200 ok'
      expect([await waitUntil(isReady, { timeoutMs: patienceMs }), worker.log.join('\n')])
        .toEqual([true, expect.not.stringContaining('"level":"error"')])
      expect(await health(port, '/live')).toBe('200 ok')
      const [own] = await listed()
      const process = await Deno.readTextFile(`/proc/${own?.pid}/status`)
      const uid = Deno.uid() === 0 ? container.user.uid : Deno.uid()
      expect(process).toMatch(new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s`, 'm'))

      const told = Promise.withResolvers<void>()
      firstTry.act = async (): Promise<void> => {
        worker.kill(container.stopSignal)
        await told.promise
      }
      const id = await outhook.publish(type)
      await outhook.requestsOf(id, 1)
      const drains = async (): Promise<boolean> => (await listed())[0]?.status === 'draining'
      expect(await waitUntil(drains, { timeoutMs: patienceMs })).toBe(true)
      expect(await listed()).toEqual([expect.objectContaining({ in_flight: 1 })])
      expect(await health(port, '/ready')).toBe('503 draining')
      expect(await health(port, '/live')).toBe('200 ok')
      told.resolve()
      expect(await worker.ended).toBe(0)
      expect(await outhook.outcomesOf(id)).toEqual(['1 delivered'])
      expect(await listed()).toEqual([])
      const after = (await Array.fromAsync(Deno.readDir(container.cwd))).map((file) => file.name)
      expect(after).toEqual(before)
    } finally {
      if (!isOver) worker.kill('SIGKILL')
      await worker.ended
    }
  })
}
