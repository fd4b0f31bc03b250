import { join } from 'node:path'
import process from 'node:process'
import { type Client, createClient, OuthookError } from '../../client/mod.ts'
import { readProject } from '../init/project.ts'
import { readTarget, type TargetOptions } from '../remote/target.ts'
import { exitCodes, type Terminal } from '../terminal.ts'

/** The options of each command that calls the API. */
export interface SessionOptions extends TargetOptions {
  project: string
  /** The name of the function `api`; by default the one that `init` gave it. */
  function?: string
  org: string
  json: boolean
}

/**
 * Runs a command with a client of the API, and returns the exit code. A refused request is printed with
 * the remedy that the API names.
 */
export async function withClient(
  command: string,
  options: SessionOptions,
  terminal: Terminal,
  use: (client: Client) => Promise<number>,
): Promise<number> {
  const target = await readTarget(options, process.env, terminal, command)
  if ('says' in target) {
    terminal.printError(target.says)
    return target.code
  }
  const own = readProject(join(options.project, 'supabase'))?.own ?? []
  const functionName = options.function ?? own.find(({ name }) => name === 'api')?.folder ?? 'api'
  const client = createClient({
    url: target.url,
    key: target.key,
    functionName,
    orgId: options.org,
  })
  try {
    return await use(client)
  } catch (error) {
    if (!(error instanceof OuthookError)) throw error
    terminal.printError(error.message)
    return exitCodes.failed
  }
}
