import { Buffer } from 'node:buffer'
import { writeSync } from 'node:fs'
import { connect } from 'node:net'
import process from 'node:process'
import { NodeTcpConn } from './node_conn.ts'
import type { Runtime, TcpConn } from './runtime.ts'

/**
 * The flags of V8 for a worker, the same as those of the task `worker` in deno.json: a thousand requests in
 * flight do not fit into the space for new objects that V8 has by default, and would be copied.
 */
export const workerFlags: readonly string[] = [
  '--min-semi-space-size=16',
  '--max-semi-space-size=16',
  '--heap-growing-percent=40',
]

/**
 * How many threads Node starts for work that blocks. Lookups of names may use half of them. With the four that
 * Node has by default, one name whose servers do not reply keeps the others from being looked up for a minute.
 */
export const workerThreads = 128

/** Set in the process that replaced one, so that it does not do the same again. */
const restartedName = 'OUTHOOK_RESTARTED'

/** How long a full pipe is given to its reader before the next try. */
const fullPipeMs = 1

/** The effects of the worker under Node. */
export const nodeRuntime: Runtime = {
  // NODE_TLS_REJECT_UNAUTHORIZED turns its checks off, and a common name is enough for it.
  hasSafeFetch: false,
  environment: () => process.env,
  onStopSignal: (stop) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop)
  },
  writeStdout,
  exit: (code) => process.exit(code),
  restartWithFlags,
  threadsProblem,
  lookupThreads: () => Math.ceil(Number(process.env.UV_THREADPOOL_SIZE ?? 4) / 2) || 1,
  connectTcp,
}

/** A pipe may accept only a part at once, or nothing if it does not block. */
function writeStdout(text: string): void {
  for (let rest = Buffer.from(text); rest.length > 0;) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fullPipeMs)
    }
  }
}

/**
 * V8 reads the size of its spaces, and Node the number of its threads, only at the start of the process. Node
 * 22.15 and newer have `execve()`. Under an older one both come from the first line of the file, if the file is
 * started as a program.
 */
function restartWithFlags(): string | null {
  const { UV_THREADPOOL_SIZE, [restartedName]: restarted } = process.env
  const missing = workerFlags.filter((flag) => !process.execArgv.includes(flag))
  if (missing.length === 0 && UV_THREADPOOL_SIZE !== undefined) return null
  if (restarted === undefined && 'execve' in process && typeof process.execve === 'function') {
    const args = [process.execPath, ...process.execArgv, ...missing, ...process.argv.slice(1)]
    const threads = UV_THREADPOOL_SIZE ?? String(workerThreads)
    const env = { ...process.env, UV_THREADPOOL_SIZE: threads, [restartedName]: '1' }
    try {
      process.execve(process.execPath, args, env)
    } catch {
      // Windows and the permission model of Node do not have it.
    }
  }
  const problem = threadsProblem()
  return problem === null ? null : `${problem}, or start the file as a program`
}

function threadsProblem(): string | null {
  return process.env.UV_THREADPOOL_SIZE === undefined
    ? `Node.js has only 4 threads, so a host name whose name servers do not respond delays all others: ` +
      `set UV_THREADPOOL_SIZE=${workerThreads}`
    : null
}

function connectTcp(to: { hostname: string; port: number }): Promise<TcpConn> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: to.hostname, port: to.port, noDelay: true, keepAlive: true })
    socket.once('connect', () => resolve(new NodeTcpConn(socket)))
    // It stays: an error without a listener would end the process.
    socket.on('error', reject)
  })
}
