import { spawn } from 'node:child_process'
import process from 'node:process'
import { workerFlags, workerThreads } from '../../../functions/_shared/runtime/node_runtime.ts'
import { endWithNpm } from '../../worker/parent.ts'
import { exitCodes } from '../terminal.ts'

/** The options of `outhook worker`. */
export interface WorkerOptions {
  dbUrl?: string
  healthPort?: number
}

/**
 * Runs the worker with its flags of V8, which are read only at the start of a process. Since Node 22.15 this
 * process becomes the worker. Otherwise the worker is a child, which ends with this process. Returns its exit code.
 */
export async function worker(
  program: string,
  { dbUrl, healthPort }: WorkerOptions,
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const own = {
    ...env,
    ...dbUrl === undefined ? {} : { OUTHOOK_DB_URL: dbUrl },
    ...healthPort === undefined ? {} : { OUTHOOK_HEALTH_PORT: String(healthPort) },
    UV_THREADPOOL_SIZE: env.UV_THREADPOOL_SIZE ?? String(workerThreads),
  }
  const args = 'Deno' in globalThis
    ? ['run', '-A', '--cached-only', `--v8-flags=${workerFlags.join(',')}`, program]
    : [...workerFlags, program]
  // The worker names it in an error.
  if (dbUrl !== undefined) args.push('--db-url')
  if ('execve' in process && typeof process.execve === 'function') {
    try {
      process.execve(process.execPath, [process.execPath, ...args], own)
    } catch {
      // Windows and the permission model of Node do not have it.
    }
  }
  return await runChild(args, own)
}

/** The channel tells the child if this process ends in a way that cannot be caught. */
function runChild(
  args: readonly string[],
  env: Record<string, string | undefined>,
): Promise<number> {
  const child = spawn(process.execPath, args, {
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  let isTold = false
  const stop = (): void => {
    isTold = true
    child.kill('SIGTERM')
  }
  endWithNpm(env, stop)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, stop)
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      // Deno reports the signal that it has sent, also if the child has ended with a code.
      const isStopped = isTold && signal === 'SIGTERM'
      resolve(code ?? (isStopped ? exitCodes.done : exitCodes.failed))
    })
  })
}
