/** Keeps one function's process running, and knows its port. */
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { backoffMs } from './backoff.ts'
import { type FunctionConfig, importMapFlags } from './config.ts'
import { failureReason, type FunctionFailure, silentReason } from './failure.ts'
import { readPort } from './ready.ts'
import type { FunctionTarget } from './target.ts'

export interface SupervisorOptions {
  config: FunctionConfig
  /** The folder that the function may read. */
  projectDir: string
  env: Record<string, string>
  denoPath: string
  /** How long a process may take until it listens, in ms; default 20,000. */
  listenWithinMs?: number | undefined
  log(line: string): void
}

export interface Supervisor {
  target: FunctionTarget
  /** Resolves when the function listens. */
  listening(): Promise<unknown>
  /** Resolves at the third consecutive failed start. */
  readonly failed: Promise<FunctionFailure>
  /** The process id, or null between two processes. */
  pid(): number | null
  /** Ends the process (default SIGKILL); it is restarted. */
  kill(signal?: Deno.Signal): void
  /** Stops the process and waits for its end. */
  stop(): Promise<void>
}

/** A start takes two seconds, and several times as long on a busy machine. */
const LISTEN_WITHIN_MS = 20_000
/** A process that listened this long counts as started. */
const HEALTHY_AFTER_MS = 1000
/** After this number of consecutive failed starts `failed` resolves. */
const FAILED_AFTER = 3
/** The most stored lines of output of a process that does not listen yet. */
const MOST_KEPT = 200

/**
 * The variables that a function's process inherits: the folder of the packages, which it only reads, and
 * proxies and certificates for its own requests.
 */
const PASSED_ON = [
  'HOME',
  'PATH',
  'TMPDIR',
  'DENO_DIR',
  'XDG_CACHE_HOME',
  'NPM_CONFIG_REGISTRY',
  'NPM_CONFIG_USERCONFIG',
  'HTTPS_PROXY',
  'NO_PROXY',
  'DENO_CERT',
  'DENO_TLS_CA_STORE',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
]

/** How a process ended: how long it listened, or why it never did. */
type End = { kind: 'ran'; listenedMs: number; how: string } | {
  kind: 'not started'
  reason: string
}

/** Starts the process of a function; it listens when `target.origin()` resolves. */
export function supervise(options: SupervisorOptions): Supervisor {
  const { config, log, listenWithinMs = LISTEN_WITHIN_MS } = options
  let child: Deno.ChildProcess | null = null
  let origin = Promise.withResolvers<string>()
  const stopping = new AbortController()

  const started = Promise.withResolvers<void>()
  const failed = Promise.withResolvers<FunctionFailure>()

  /** Runs one process to its end. Output before it listens is printed when it listens. */
  async function runOnce(): Promise<End> {
    const ready = origin
    const running = spawn(options)
    child = running
    let listensSince: number | null = null
    const early: string[] = []
    let isTooLate = false
    // A module that never calls Deno.serve() does not end by itself.
    const limit = setTimeout(() => {
      isTooLate = true
      running.kill('SIGKILL')
    }, listenWithinMs)
    const show = (line: string): void => {
      if (listensSince !== null) log(`[${config.name}] ${line}`)
      else if (early.length < MOST_KEPT) early.push(line)
    }
    const output = Promise.all([
      readLines(running.stdout, (line) => {
        const port = readPort(line)
        if (port === null) return show(line)
        clearTimeout(limit)
        listensSince = performance.now()
        for (const kept of early.splice(0)) show(kept)
        ready.resolve(`http://127.0.0.1:${port}`)
        started.resolve()
      }),
      readLines(running.stderr, show),
    ])
    const status = await running.status
    clearTimeout(limit)
    child = null
    if (origin === ready) origin = Promise.withResolvers()
    await output
    await closeQuietly(running.stdin)
    const how = status.signal ?? `code ${status.code}`
    if (listensSince !== null) {
      return { kind: 'ran', listenedMs: performance.now() - listensSince, how }
    }
    const reason = isTooLate ? silentReason(listenWithinMs, early) : failureReason(how, early)
    return { kind: 'not started', reason }
  }

  async function keepRunning(): Promise<void> {
    let failures = 0
    let told = ''
    while (!stopping.signal.aborted) {
      const end = await runOnce()
      if (stopping.signal.aborted) return
      if (end.kind === 'ran') {
        log(`[${config.name}] process ended (${end.how}), restarting`)
        failures = end.listenedMs < HEALTHY_AFTER_MS ? failures + 1 : 0
        told = ''
      } else {
        failures += 1
        // Does not print the same failure again.
        if (end.reason !== told) log(`[${config.name}] does not start: ${end.reason}`)
        told = end.reason
        if (failures >= FAILED_AFTER) {
          failed.resolve({ name: config.name, starts: failures, reason: end.reason })
        }
      }
      if (failures > 0 && !(end.kind === 'ran' && failures === 1)) {
        await pause(backoffMs(failures), stopping.signal)
      }
    }
  }

  const ended = keepRunning()

  return {
    target: {
      verifyJwt: config.verifyJwt,
      async origin(patienceMs): Promise<string | null> {
        const enough = new AbortController()
        const waited = pause(patienceMs, AbortSignal.any([enough.signal, stopping.signal]))
        const response = await Promise.race([origin.promise, waited.then(() => null)])
        enough.abort()
        return response
      },
    },
    failed: failed.promise,
    listening: () => started.promise,
    pid: () => child?.pid ?? null,
    kill(signal = 'SIGKILL'): void {
      // From now on requests wait for the next process.
      if (signal === 'SIGKILL') origin = Promise.withResolvers()
      child?.kill(signal)
    },
    async stop(): Promise<void> {
      stopping.abort()
      child?.kill('SIGKILL')
      await ended
    },
  }
}

/** The permissions of an edge function: network, environment and its files; no writes, no programs. */
function spawn({ config, projectDir, env, denoPath }: SupervisorOptions): Deno.ChildProcess {
  const inherited = PASSED_ON.flatMap((name) => {
    const value = Deno.env.get(name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return new Deno.Command(denoPath, {
    args: [
      'run',
      '--quiet',
      '--no-prompt',
      '--no-lock',
      '--cached-only',
      '--allow-net',
      '--allow-env',
      '--allow-sys',
      // "." is the project: a comma in its full path would separate two folders.
      '--allow-read=.',
      ...importMapFlags(config.importMap),
      fileURLToPath(import.meta.resolve('./child.ts')),
      pathToFileURL(config.entrypoint).href,
    ],
    cwd: projectDir,
    clearEnv: true,
    env: {
      ...Object.fromEntries(inherited),
      NO_COLOR: '1',
      DENO_NO_UPDATE_CHECK: '1',
      ...env,
      SUPABASE_FUNCTION_SLUG: config.name,
    },
    stdin: 'piped',
    stdout: 'piped',
    stderr: 'piped',
  }).spawn()
}

async function readLines(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  onLine: (line: string) => void,
): Promise<void> {
  for await (const line of createInterface({ input: Readable.from(stream) })) onLine(line)
}

/** Ignores the error of a pipe to an ended process. */
async function closeQuietly(stream: WritableStream): Promise<void> {
  try {
    await stream.close()
  } catch (error) {
    if (!(error instanceof Error)) throw error
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    }, { once: true })
  })
}
