/**
 * The functions of the local stack: each in its own Deno process with the platform's environment and an edge
 * function's permissions; restarted when it ends, and stopped with the stack.
 */
import { type FunctionConfig, readFunctionEnv } from './config.ts'
import { supervise, type Supervisor } from './supervisor.ts'
import type { FunctionFailure } from './failure.ts'
import type { FunctionTarget } from './target.ts'

export { type FunctionConfig, importMapFlags, readFunctionConfigs } from './config.ts'
export type { FunctionFailure } from './failure.ts'
export type { FunctionTarget, FunctionTargets } from './target.ts'

export interface FunctionsOptions {
  /** From `readFunctionConfigs`. */
  configs: FunctionConfig[]
  /** The folder with `supabase/`, which the functions may read. */
  projectDir: string
  /** Overrides supabase/functions/.env; `SUPABASE_FUNCTION_SLUG` is added. */
  env: Record<string, string>
  /** The Deno that runs them; default: the current one. */
  denoPath?: string
  /** How long a function may take until it listens, in ms; default 20,000. */
  listenWithinMs?: number
  /** Gets each output line of a function, as `[name] line`. */
  log(line: string): void
}

export interface Functions {
  /** For the gateway. `targets.get(name)?.origin(ms)` waits until a function listens. */
  targets: ReadonlyMap<string, FunctionTarget>
  /** Resolves when all functions listen. */
  up(): Promise<void>
  /** Resolves when a function has failed to start three consecutive times. */
  readonly failed: Promise<FunctionFailure>
  /** The process id of a function, or null between two processes. */
  pid(name: string): number | null
  /** Ends a function's process (default SIGKILL); it is restarted at once. */
  kill(name: string, signal?: Deno.Signal): void
  /** Stops all functions. */
  stop(): Promise<void>
}

/** Starts the functions without waiting for them. */
export async function startFunctions(options: FunctionsOptions): Promise<Functions> {
  const env = { ...await readFunctionEnv(options.projectDir), ...options.env }
  const denoPath = options.denoPath ?? Deno.execPath()
  const supervisors = new Map<string, Supervisor>()
  for (const config of options.configs) {
    const { projectDir, listenWithinMs, log } = options
    const supervisor = supervise({ config, projectDir, env, denoPath, listenWithinMs, log })
    supervisors.set(config.name, supervisor)
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
