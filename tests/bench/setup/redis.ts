/** A Redis of the bench's own for BullMQ, from Debian's packages, with its append-only file on. */

import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { SetupError } from '../../../supabase/local/errors.ts'
import { freePort } from '../../../supabase/local/process/ports.ts'
import { spawnGuarded } from '../../../supabase/local/process/watchdog.ts'

export interface Redis {
  readonly port: number
  readonly pid: number
  /** How often the append-only file reaches the disk. */
  setFsync(how: 'always' | 'everysec'): Promise<void>
  /** What the server says of it. */
  durability(): Promise<{ appendonly: string; appendfsync: string }>
  /** Removes all of its data. */
  empty(): Promise<void>
  version(): Promise<string>
  stop(): Promise<void>
}

/** Starts redis-server with its files in `dataDir`, installing it by apt when it is missing. */
export async function startRedis(dataDir: string, log: (line: string) => void): Promise<Redis> {
  if (!await runs('redis-server', ['--version'])) await install(log)
  await Deno.mkdir(dataDir, { recursive: true })
  const port = freePort()
  const options = {
    ...{ port, bind: '127.0.0.1', dir: dataDir },
    ...{ appendonly: 'yes', appendfsync: 'always', save: '' },
  }
  const child = spawnGuarded({
    command: [
      'redis-server',
      ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
    ],
    cwd: dataDir,
    logFile: join(dataDir, 'redis.log'),
    ...{ stopSignal: 'TERM', forceSignal: 'KILL', graceSeconds: 5 },
  })
  const cli = (...args: string[]): Promise<string> => call(port, args)
  for (let n = 0; !await cli('ping').then(() => true, () => false); n++) {
    if (n > 100) throw new SetupError(`redis-server does not answer on port ${port}`)
    await delay(50)
  }
  return {
    port,
    pid: Number(/process_id:(\d+)/.exec(await cli('info', 'server'))?.[1]),
    setFsync: async (how) => void await cli('config', 'set', 'appendfsync', how),
    durability: async () => ({
      appendonly: (await cli('config', 'get', 'appendonly')).split('\n')[1] ?? '',
      appendfsync: (await cli('config', 'get', 'appendfsync')).split('\n')[1] ?? '',
    }),
    empty: async () => void await cli('flushall'),
    version: async () =>
      /redis_version:(\S+)/.exec(await cli('info', 'server'))?.[1] ?? 'of unknown version',
    stop: child.stop,
  }
}

async function call(port: number, args: string[]): Promise<string> {
  const { success, stdout } = await new Deno.Command('redis-cli', {
    args: ['-p', String(port), ...args],
  }).output()
  if (!success) throw new Error(`redis-cli ${args.join(' ')} failed`)
  return new TextDecoder().decode(stdout).trim()
}

async function runs(program: string, args: string[]): Promise<boolean> {
  try {
    // A program that is missing is thrown at once, not by the promise.
    return (await new Deno.Command(program, { args, stdout: 'null' }).output()).success
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false
    throw error
  }
}

async function install(log: (line: string) => void): Promise<void> {
  log('apt: installing redis-server (no server is started)')
  // Debian starts a server on its port unless a policy says otherwise.
  const policy = join('/usr/sbin', 'policy-rc.d')
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const hadPolicy = await Deno.stat(policy).then(() => true, () => false)
  if (!hadPolicy) await Deno.writeTextFile(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    const args = ['-o', 'DPkg::Lock::Timeout=300', '-qy', '--no-install-recommends']
    const { success, stderr } = await new Deno.Command('apt-get', {
      args: ['install', ...args, 'redis-server'],
      env,
      stdin: 'null',
    }).output()
    if (success) return
    throw new SetupError(
      `apt-get install redis-server failed: ${new TextDecoder().decode(stderr).slice(-500)}. ` +
        'Install redis-server yourself, or leave BullMQ out with --side',
    )
  } finally {
    if (!hadPolicy) await Deno.remove(policy)
  }
}
