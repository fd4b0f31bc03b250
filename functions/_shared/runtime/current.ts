import { denoRuntime } from './deno_runtime.ts'
import { nodeRuntime } from './node_runtime.ts'
import type { Runtime } from './runtime.ts'

/** The runtime of this process. */
export const runtime: Runtime = 'Deno' in globalThis ? denoRuntime : nodeRuntime
