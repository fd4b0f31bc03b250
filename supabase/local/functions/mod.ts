/**
 * The functions of the local stack: each in a Deno process of its own with the platform's
 * environment and an edge function's rights, started again when it dies, ended with the stack.
 */
import { type FunctionConfig, readFunctionEnv } from './config.ts'
import { supervise, type Supervisor } from './supervisor.ts'
import type { FunctionFailure } from './failure.ts'
import type { FunctionTarget } from './target.ts'

export { type FunctionConfig, importMapFlags, readFunctionConfigs } from './config.ts'
export type { FunctionFailure } from './failure.ts'
export type { FunctionTarget, FunctionTargets } from './target.ts'

/** How the functions are started. */
export interface FunctionsOptions {
  /** From `readFunctionConfigs`. */
  configs: FunctionConfig[]
  /** The folder that holds `supabase/`; what the functions may read. */
  projectDir: string
  /** Wins over supabase/functions/.env; `SUPABASE_FUNCTION_SLUG` is added. */
  env: Record<string, string>
  /** The Deno that runs them; by default the one that runs this. */
  denoPath?: string
  /** Gets each line that a function writes, as `[name] line`. */
  log(line: string): void
}

/** The running functions. */
export interface Functions {
  /** For the gateway. `targets.get(name)?.origin(ms)` waits until a function is up. */
  targets: ReadonlyMap<string, FunctionTarget>
  /** Resolves once every function listens. */
  up(): Promise<void>
  /** Resolves when a function has failed to start three times in a row. */
  readonly failed: Promise<FunctionFailure>
  /** The process id of a function, or null between two processes. */
  pid(name: string): number | null
  /** Ends a function's process (SIGKILL by default); it is started again at once. */
  kill(name: string, signal?: Deno.Signal): void
  /** Ends all of them for good. */
  stop(): Promise<void>
}

/**
 * Starts the functions without waiting for them; a caller of `targets` waits as long as it likes.
 */
export async function startFunctions(options: FunctionsOptions): Promise<Functions> {
  const env = { ...await readFunctionEnv(options.projectDir), ...options.env }
  const denoPath = options.denoPath ?? Deno.execPath()
  const supervisors = new Map<string, Supervisor>()
  for (const config of options.configs) {
    const { projectDir, log } = options
    supervisors.set(config.name, supervise({ config, projectDir, env, denoPath, log }))
  }

  function find(name: string): Supervisor {
    const supervisor = supervisors.get(name)
    if (supervisor !== undefined) return supervisor
    const known = [...supervisors.keys()].join(', ') || 'none'
    throw new RangeError(`Unknown function "${name}": config.toml has ${known}`)
  }

  return {
    targets: new Map([...supervisors].map(([name, { target }]) => [name, target])),
    async up(): Promise<void> {
      await Promise.all([...supervisors.values()].map((supervisor) => supervisor.listening()))
    },
    failed: Promise.race([...supervisors.values()].map((supervisor) => supervisor.failed)),
    pid: (name) => find(name).pid(),
    kill: (name, signal) => find(name).kill(signal),
    async stop(): Promise<void> {
      await Promise.all([...supervisors.values()].map((supervisor) => supervisor.stop()))
    },
  }
}
