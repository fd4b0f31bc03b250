import { builtForNode, nodeCommand } from './node.ts'
import { denoCommand, workerModule } from './worker_process.ts'

/** The runtimes of a worker. */
export const runtimes = ['Deno', 'Node'] as const

/** The command that runs a worker, from the root of the project; `module` is its main module. */
export async function workerCommand(
  runtime: typeof runtimes[number],
  module = workerModule,
): Promise<readonly string[]> {
  return runtime === 'Deno'
    ? denoCommand(module)
    : [await nodeCommand(), await builtForNode(module)]
}
