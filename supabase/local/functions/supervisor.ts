/** Keeps one function's process running, and knows where it listens at this moment. */
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { FunctionConfig } from './config.ts'
import { readPort } from './ready.ts'
import type { FunctionTarget } from './target.ts'

/** What a supervised process needs. */
export interface SupervisorOptions {
  config: FunctionConfig
  /** The folder that the function may read. */
  projectDir: string
  env: Record<string, string>
  denoPath: string
  log(line: string): void
}

/** One function under supervision. */
export interface Supervisor {
  target: FunctionTarget
  /** The process id, or null between two processes. */
  pid(): number | null
  /** Ends the process (SIGKILL by default); it is started again. */
  kill(signal?: Deno.Signal): void
  /** Ends the process for good and waits for its end. */
  stop(): Promise<void>
}

/** A process that lived this long was not a failed start. */
const HEALTHY_AFTER_MS = 1000
const FIRST_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 5000

/** What Deno itself needs of our environment: its cache, its registry, its certificates. */
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
  'SSL_CERT_FILE',
]

/** Starts the process of a function; it is up once `target.origin()` has an answer. */
export function supervise(options: SupervisorOptions): Supervisor {
  const { config, log } = options
  let child: Deno.ChildProcess | null = null
  let origin = Promise.withResolvers<string>()
  const stopping = new AbortController()

  /** Runs one process to its end; returns how long it lived, in ms. */
  async function runOnce(): Promise<number> {
    const startedAt = performance.now()
    const ready = origin
    const running = spawn(options)
    child = running
    const output = Promise.all([
      readLines(running.stdout, (line) => {
        const port = readPort(line)
        if (port === null) log(`[${config.name}] ${line}`)
        else ready.resolve(`http://127.0.0.1:${port}`)
      }),
      readLines(running.stderr, (line) => log(`[${config.name}] ${line}`)),
    ])
    const status = await running.status
    child = null
    if (origin === ready) origin = Promise.withResolvers()
    await output
    await closeQuietly(running.stdin)
    const how = status.signal ?? `code ${status.code}`
    if (!stopping.signal.aborted) log(`[${config.name}] process ended (${how}), starting again`)
    return performance.now() - startedAt
  }

  async function keepRunning(): Promise<void> {
    let failures = 0
    while (!stopping.signal.aborted) {
      const lifeMs = await runOnce()
      failures = lifeMs < HEALTHY_AFTER_MS ? failures + 1 : 0
      if (failures > 1) {
        const backoffMs = FIRST_BACKOFF_MS * 2 ** (failures - 2)
        await pause(Math.min(backoffMs, MAX_BACKOFF_MS), stopping.signal)
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
        const answer = await Promise.race([origin.promise, waited.then(() => null)])
        enough.abort()
        return answer
      },
    },
    pid: () => child?.pid ?? null,
    kill(signal = 'SIGKILL'): void {
      // From here on requests wait for the next process, not for this one's end to be noticed.
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

/**
 * The rights of an edge function: the network, its environment, its files; no writes, no programs.
 */
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
      '--allow-net',
      '--allow-env',
      '--allow-sys',
      `--allow-read=${projectDir}`,
      ...importMapFlags(config.importMap),
      fileURLToPath(import.meta.resolve('./child.ts')),
      pathToFileURL(config.entrypoint).href,
    ],
    cwd: projectDir,
    clearEnv: true,
    env: {
      ...Object.fromEntries(inherited),
      NO_COLOR: '1',
      ...env,
      SUPABASE_FUNCTION_SLUG: config.name,
    },
    stdin: 'piped',
    stdout: 'piped',
    stderr: 'piped',
  }).spawn()
}

function importMapFlags(path: string | null): string[] {
  if (path === null) return []
  return /deno\.jsonc?$/.test(path) ? ['--config', path] : ['--import-map', path]
}

async function readLines(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  onLine: (line: string) => void,
): Promise<void> {
  for await (const line of createInterface({ input: Readable.from(stream) })) onLine(line)
}

/** The pipe of a process that is gone may be broken already. */
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
