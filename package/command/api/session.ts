import { join } from 'node:path'
import process from 'node:process'
import {
  type Client,
  type ClientOptions,
  createClient,
  type Credentials,
  OuthookError,
} from '../../client/mod.ts'
import { readProject } from '../init/project.ts'
import { type NoTarget, readTarget, type TargetOptions, urlOf } from '../remote/target.ts'
import { exitCodes, type Terminal } from '../terminal.ts'

/** The options of each command that calls the API. */
export interface SessionOptions extends TargetOptions {
  project: string
  /** The name of the function `api`; by default the one that `init` gave it. */
  function?: string
  /** By default that of a token, or `default`. */
  org?: string
  json: boolean
}

/**
 * Runs a command with a client of the API, and returns the exit code. A refused request is printed with
 * the remedy that the API names. `fetch` sends the requests.
 */
export async function withClient(
  command: string,
  options: SessionOptions,
  terminal: Terminal,
  use: (client: Client) => Promise<number>,
  fetch?: ClientOptions['fetch'],
): Promise<number> {
  const access = await readAccess(command, options, terminal)
  if ('says' in access) {
    terminal.printError(access.says)
    return access.code
  }
  const own = readProject(join(options.project, 'supabase'))?.own ?? []
  const functionName = options.function ?? own.find(({ name }) => name === 'api')?.folder ?? 'api'
  const client = createClient({
    ...access,
    functionName,
    ...options.org === undefined ? {} : { orgId: options.org },
    ...fetch === undefined ? {} : { fetch },
  })
  try {
    return await use(client)
  } catch (error) {
    if (!(error instanceof OuthookError)) throw error
    // The library names its own options.
    terminal.printError(
      error.message.replace('check url and functionName', 'check --url and --function'),
    )
    return exitCodes.failed
  }
}

/** The project with a key, or with the token of a user or a portal in OUTHOOK_TOKEN. */
async function readAccess(
  command: string,
  options: SessionOptions,
  terminal: Terminal,
): Promise<{ url: string } & Credentials | NoTarget> {
  const token = process.env.OUTHOOK_TOKEN?.trim()
  if (token === undefined || token === '') {
    return await readTarget(options, process.env, terminal, command)
  }
  const url = urlOf(options, process.env, command)
  return typeof url === 'string' ? { url, token } : url
}
