/** What a first start meets on a machine that lacks something: one sentence with the remedy, and code 1. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { cloneProject } from '../_support/clone.ts'
import { testFolder } from '../_support/folder.ts'
import { runTask, type TaskEnd } from '../_support/task.ts'
import { startConnectProxy } from '../functions/connect_proxy.ts'

const folder = testFolder()
const dataDir = join(folder, 'data')
const isRoot = Deno.build.os === 'linux' && Deno.uid() === 0

Deno.test.beforeAll(async () => {
  await Deno.mkdir(folder, { recursive: true })
})
Deno.test.afterAll(async () => {
  await Deno.remove(folder, { recursive: true })
})

/** Variables that lead to the registry, taken away. */
const alone = {
  HTTPS_PROXY: '',
  https_proxy: '',
  HTTP_PROXY: '',
  http_proxy: '',
  NO_PROXY: '',
  no_proxy: '',
  npm_config_proxy: '',
  npm_config_https_proxy: '',
}

/** The first start with an empty cache. */
function coldStart(env: Record<string, string>): Promise<TaskEnd> {
  const DENO_DIR = join(folder, `cache-${crypto.randomUUID()}`)
  const args = ['start', '--once', '--free-ports', '--data-dir', dataDir]
  return runTask({ args, env: { ...alone, DENO_DIR, ...env } })
}

/** The start's only sentence; what follows it are lines of the error, indented. */
function sentence({ code, stderr }: TaskEnd): string {
  expect(code).toBe(1)
  const lines = stderr.trimEnd().split('\n').filter((line) => !line.startsWith('fetching packages'))
  for (const line of lines.slice(1)) expect(line).toMatch(/^ {2}\S/)
  expect(lines.length).toBeLessThanOrEqual(4)
  return lines[0] ?? ''
}

Deno.test('without a network the start reports it with the remedy', async () => {
  using closed = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const { port } = closed.addr
  closed.close()
  expect(sentence(await coldStart({ HTTPS_PROXY: `http://127.0.0.1:${port}` }))).toBe(
    'The package registry cannot be reached: connect this machine to the network, or set your ' +
      'proxy in HTTPS_PROXY or your mirror in ~/.npmrc (registry=https://…)',
  )
})

Deno.test('a variable that names no certificates is named after what failed', async () => {
  using closed = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const { port } = closed.addr
  closed.close()
  const { code, stderr } = await coldStart({
    HTTPS_PROXY: `http://127.0.0.1:${port}`,
    SSL_CERT_FILE: '/nothing/here.pem',
  })
  expect([code, stderr.trimEnd().split('\n').at(-1)]).toEqual([
    1,
    'SSL_CERT_FILE names /nothing/here.pem, which has no readable certificate: it is ignored',
  ])
})

Deno.test('a proxy that answers 407 is named, and its password is not shown', async () => {
  const proxy = startConnectProxy({ status: 407 })
  try {
    const address = proxy.url.replace('://', '://ada:s3cret@')
    const ended = await coldStart({ HTTPS_PROXY: address })
    expect(sentence(ended)).toBe(
      'The proxy requires a user and a password (407): set them in HTTPS_PROXY, as in ' +
        'http://user:password@host:port',
    )
    expect(ended.stderr).not.toContain('s3cret')
    expect(proxy.asked.length).toBeGreaterThan(0)
  } finally {
    await proxy.close()
  }
})

Deno.test('a cache folder that cannot be written is named, with the variable for another', async () => {
  const file = join(folder, 'file')
  await Deno.writeTextFile(file, '')
  const DENO_DIR = join(file, 'cache')
  expect(sentence(await coldStart({ DENO_DIR }))).toBe(
    `The cache folder ${DENO_DIR} is not writable: set another one in DENO_DIR`,
  )
})

Deno.test('an old Node is refused before anything is fetched', async () => {
  const agent = 'npm/9.2.0 node/v18.19.0 linux x64 workspaces/false'
  expect(sentence(await coldStart({ npm_config_user_agent: agent }))).toBe(
    'Node.js 18.19.0 is too old for this project: install Node.js 20 or newer',
  )
})

Deno.test('without Node the first command of the README ends with what the shell says of npx', async () => {
  const readme = await Deno.readTextFile(join(projectRoot, 'README.md'))
  const command = /^npx .* task start --once$/m.exec(readme)?.[0] ?? ''
  const { code, stderr } = await new Deno.Command('/bin/bash', {
    args: ['-c', command],
    clearEnv: true,
    env: { PATH: folder, HOME: folder },
  }).output()
  expect(code).toBe(127)
  expect(new TextDecoder().decode(stderr)).toMatch(/^\S*bash: line 1: npx: command not found\n$/)
})

Deno.test('without npm a task that needs a tool names Node as what to install', async () => {
  const clone = join(folder, 'without npm')
  await cloneProject(clone)
  const ended = await runTask({ args: ['openapi', '--check'], cwd: clone, env: { PATH: folder } })
  expect(sentence(ended)).toBe(
    'Cannot start npm, which comes with Node.js: install Node.js 20 or newer',
  )
  const tools = join(clone, '.outhook/tools')
  expect(await Array.fromAsync(Deno.readDir(tools), ({ name }) => name)).toEqual([])
})

Deno.test('an unknown task is refused', async () => {
  const { code, stderr } = await runTask({ args: ['strat'] })
  expect(code).toBe(2)
  expect(stderr).toBe('There is no task "strat": deno task lists them\n')
})

/** Runs the start in a mount namespace of its own, after `mounts`. */
function startAmid(mounts: string, args: string[], cwd?: string): Promise<TaskEnd> {
  return runTask({
    args: ['start', '--once', '--free-ports', ...args],
    prefix: ['unshare', '--mount', 'sh', '-c', `${mounts} && exec "$@"`, 'sh'],
    ...cwd === undefined ? {} : { cwd },
  })
}

for (const [when, size] of [['the database is made', '8m'], ['it is filled', '40m']] as const) {
  Deno.test({
    name: `a disk that is full when ${when} is told as such, and nothing else`,
    ignore: !isRoot,
    async fn(): Promise<void> {
      const disk = join(folder, `disk-${size}`)
      await Deno.mkdir(disk)
      await Deno.chmod(disk, 0o755)
      const ended = await startAmid(`mount -t tmpfs -o size=${size},mode=755 disk '${disk}'`, [
        '--data-dir',
        join(disk, 'data'),
      ])
      expect(sentence(ended)).toBe(
        'The disk is full: free some space (the stack needs about 200 MB), or set a folder on another ' +
          'disk with --data-dir',
      )
    },
  })
}

Deno.test({
  name: 'a clone on a read-only file system is reported, and works with a data folder elsewhere',
  ignore: !isRoot,
  async fn(): Promise<void> {
    const clone = join(folder, 'read only')
    await cloneProject(clone)
    const mounts =
      `mount --bind '${clone}' '${clone}' && mount -o remount,bind,ro '${clone}' && cd '${clone}'`
    expect(sentence(await startAmid(mounts, [], clone))).toBe(
      'The project is on a read-only file system: set a writable folder with --data-dir, or use ' +
        'a clone elsewhere',
    )
    const { code, stderr } = await startAmid(mounts, ['--data-dir', join(folder, 'rw')], clone)
    expect(stderr).toBe('')
    expect(code).toBe(0)
  },
})

Deno.test('a path with spaces, commas and letters of all kinds works', async () => {
  const clone = join(folder, "Ünïcode, späce & 'quote' 日本")
  await cloneProject(clone)
  const ended = await runTask({ args: ['start', '--once', '--free-ports'], cwd: clone })
  expect(ended.stderr).toBe('')
  expect(ended.code).toBe(0)
})
