import { randomBytes } from 'node:crypto'
import type { OwnFunction } from '../init/plan.ts'
import { callDataApi, parseJson, type Target } from '../remote/data_api.ts'
import type { Facts } from '../remote/facts.ts'
import type { Cli } from './cli.ts'
import {
  functionsCommand,
  keysCommand,
  listSecretsCommand,
  pushCommand,
  queryCommand,
  setSecretsCommand,
  shownCommand,
  type Targets,
} from './commands.ts'
import { withFile } from './temporary_file.ts'

/** The name of the secret that signs kicks. */
export const secretName = 'OUTHOOK_WORKER_SECRET'

/** What a deployment is made of. */
export interface Deployment {
  cli: Cli
  targets: Targets
  /** The URL of the project. */
  url: string
  own: readonly OwnFunction[]
  /** The secret that a person wants; null: the present one, or a new one. */
  givenSecret: string | null
  /** The statement of configure.sql. */
  configureSql: string
  /** Shows what is done. */
  say(line: string): void
}

/** A step that ended with an error. The Supabase CLI has printed why. */
export class StepError extends Error {}

/** Runs a command of the Supabase CLI and shows it; throws a StepError if it fails. */
async function run(
  { cli, say }: Deployment,
  args: readonly string[],
  captured = false,
): Promise<string> {
  say(`$ ${shownCommand(args)}`)
  const { code, stdout } = await cli.run(args, { captured })
  if (code === 0) return stdout
  throw new StepError(`supabase ${args.slice(0, 2).join(' ')} ended with code ${code}`)
}

/** Applies the migrations. */
export async function push(deployment: Deployment): Promise<void> {
  await run(deployment, pushCommand(deployment.targets))
}

/** Deploys the functions of Outhook that the project has, and no other. */
export async function deployFunctions(deployment: Deployment): Promise<void> {
  if (deployment.targets.projectRef === null) {
    deployment.say('Without --project-ref, deploy the folders of the functions yourself')
    return
  }
  const folders = deployment.own.map(({ folder }) => folder)
  await run(deployment, functionsCommand(deployment.targets, folders))
}

/** A secret key of the project, from the platform; null if it returns none. */
export async function readKey(deployment: Deployment): Promise<string | null> {
  if (deployment.targets.projectRef === null) return null
  const keys = parseJson(await run(deployment, keysCommand(deployment.targets), true))
  const found = (Array.isArray(keys) ? keys : []).flatMap((one: unknown) => {
    if (typeof one !== 'object' || one === null) return []
    // SAFETY: each member is checked before it is used.
    const { api_key: key, type, name } = one as {
      api_key?: unknown
      type?: unknown
      name?: unknown
    }
    return typeof key === 'string' ? [{ key, type, name }] : []
  })
  const best = found.find(({ type }) => type === 'secret') ??
    found.find(({ name }) => name === 'service_role')
  return best?.key ?? null
}

/** The URL of the function that delivers: a kick calls `<URL>/deliver/run`. */
export function functionsUrl({ url, own }: Pick<Deployment, 'url' | 'own'>): string {
  const folder = own.find(({ name }) => name === 'deliver')?.folder
  return `${url}/functions/v1${folder === undefined ? '' : `/${folder}`}`
}

/**
 * Gives the functions and the database one secret. Keeps the present one if both have one and the
 * database calls the right URL: its value can be read on neither side. An interrupted run left the
 * secret on one side, so it is replaced.
 */
export async function setSecret(deployment: Deployment, target: Target): Promise<void> {
  const { targets, givenSecret, say } = deployment
  const url = functionsUrl(deployment)
  if (givenSecret === null && await hasSecret(deployment) && await isConfigured(target, url)) {
    say('The functions and the database have a secret, and the URL is right: nothing to do')
    return
  }
  const secret = givenSecret ?? randomBytes(32).toString('hex')
  if (targets.projectRef !== null) {
    await withFile('secrets.env', `${secretName}=${secret}\n`, async (file) => {
      await run(deployment, setSecretsCommand(targets, file))
    })
  }
  const text = configureText(deployment.configureSql, url, secret)
  await withFile('configure.sql', text, async (file) => {
    await run(deployment, queryCommand(targets, file), true)
  })
}

/** The statement with its values as literals of SQL. */
export function configureText(sql: string, url: string, secret: string): string {
  const literal = (text: string): string => text.replaceAll("'", "''")
  return sql.replace('{functions_url}', () => literal(url))
    .replace('{worker_secret}', () => literal(secret))
}

async function hasSecret(deployment: Deployment): Promise<boolean> {
  const secrets = parseJson(await run(deployment, listSecretsCommand(deployment.targets), true))
  return Array.isArray(secrets) &&
    secrets.some((one: unknown) =>
      typeof one === 'object' && one !== null && 'name' in one && one.name === secretName
    )
}

async function isConfigured(target: Target, url: string): Promise<boolean> {
  const read = await callDataApi<Facts>(target, 'check_installation', {})
  if (!read.ok) return false
  const { functions_url, stored, readable } = read.data.configured
  return stored === 2 && readable === 2 && functions_url === url
}
