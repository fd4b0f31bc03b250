import { confirm } from '@clack/prompts'
import { join } from 'node:path'
import process from 'node:process'
import { checkTarget } from '../check/check.ts'
import { installedMigrations } from '../init/migrations.ts'
import type { Assets, Project } from '../init/plan.ts'
import { readProject } from '../init/project.ts'
import { otherVersion } from '../init/refuse.ts'
import { callDataApi, type Target } from '../remote/data_api.ts'
import { exitCodes, type Terminal } from '../terminal.ts'
import { CliError, findCli } from './cli.ts'
import {
  deployFunctions,
  type Deployment,
  push,
  readKey,
  secretName,
  setSecret,
  StepError,
} from './deployment.ts'
import { exposeSchema, waitUntilExposed } from './expose.ts'
import { plannedCommands } from './planned.ts'

/** The options of `outhook deploy`. */
export interface DeployOptions {
  project: string
  projectRef?: string
  dbUrl?: string
  url?: string
  /** The program of the Supabase CLI. */
  supabase?: string
  dryRun: boolean
  yes: boolean
  json: boolean
}

/** The Management API of the platform. */
const managementApi = 'https://api.supabase.com'

/** Deploys Outhook step by step, checks it, and returns the exit code. It may be run again. */
export async function deploy(
  assets: Assets & { configureSql: string },
  options: DeployOptions,
  terminal: Terminal,
): Promise<number> {
  const { printError } = terminal
  const refuse = (code: number, says: string): number => {
    printError(says)
    return code
  }
  const wrong = wrongOptions(options)
  if (wrong !== null) return refuse(exitCodes.usage, wrong)
  const project = readProject(join(options.project, 'supabase'))
  const missing = missingFiles(assets, project)
  if (project === null || missing !== null) return refuse(exitCodes.failed, missing ?? '')
  try {
    const deployment = await prepare(assets.configureSql, options, project, terminal)
    if (options.dryRun) {
      terminal.print(plannedCommands(deployment).join('\n'))
      return exitCodes.done
    }
    if (!options.yes) {
      const may = terminal.isInteractive && await askToDeploy(deployment)
      if (!may) return refuse(exitCodes.undecided, 'Nothing was deployed: confirm it with --yes')
    }
    return await carryOut(assets, deployment, options, terminal)
  } catch (error) {
    if (error instanceof CliError) return refuse(exitCodes.failed, error.message)
    if (!(error instanceof StepError)) throw error
    return refuse(
      exitCodes.failed,
      `${error.message}. Correct the cause, and run outhook deploy again: it repeats no step that ` +
        'is done',
    )
  }
}

function wrongOptions({ projectRef, dbUrl, url }: DeployOptions): string | null {
  if (projectRef === undefined && dbUrl === undefined) {
    return 'There is no project: add --project-ref, or --db-url and --url. ' +
      'Example: outhook deploy --project-ref abcdefghijklmnopqrst'
  }
  if (projectRef === undefined && (url === undefined || !process.env[secretName])) {
    return `With --db-url alone, add --url, and set ${secretName} to the secret of the functions`
  }
  if (projectRef !== undefined && !/^[a-z0-9]{20}$/.test(projectRef)) {
    return '--project-ref takes the 20 letters and digits of https://<ref>.supabase.co'
  }
  if (dbUrl !== undefined && !/^postgres(ql)?:\/\//.test(dbUrl)) {
    return '--db-url takes a connection string: postgresql://user:password@host:5432/postgres'
  }
  const secret = process.env[secretName] ?? ''
  if (!/^[\w+/=.:~-]*$/.test(secret)) {
    return `${secretName} has a character that a file of variables changes: use letters, digits and ` +
      '+/=._:~-, for example the output of: openssl rand -hex 32'
  }
  if (url !== undefined && !URL.canParse(url)) return '--url takes the URL of the project'
  return null
}

/** Why the files of the project cannot be deployed; null if they can. */
function missingFiles(assets: Assets, project: Project | null): string | null {
  const present = project === null ? [] : installedMigrations(project.migrations)
  const deliver = project?.own.some(({ name }) => name === 'deliver') === true
  if (project === null || present.length === 0 || !deliver) {
    return 'The project has no migrations and functions of Outhook: run outhook init first'
  }
  return otherVersion(assets, project)?.says ?? null
}

async function prepare(
  configureSql: string,
  { project: folder, projectRef, dbUrl, url, supabase }: DeployOptions,
  { own }: Project,
  terminal: Terminal,
): Promise<Deployment> {
  const cli = await findCli(folder, supabase)
  return {
    cli,
    targets: { major: cli.major, projectRef: projectRef ?? null, dbUrl: dbUrl ?? null },
    url: url === undefined ? `https://${projectRef}.supabase.co` : new URL(url).origin,
    own,
    givenSecret: process.env[secretName] || null,
    configureSql,
    say: terminal.printError,
  }
}

async function askToDeploy(deployment: Deployment): Promise<boolean> {
  for (const line of plannedCommands(deployment)) deployment.say(line)
  return await confirm({ message: `Run these commands for ${deployment.url}?` }) === true
}

async function carryOut(
  assets: Assets,
  deployment: Deployment,
  options: DeployOptions,
  terminal: Terminal,
): Promise<number> {
  const { say, url } = deployment
  say('1 of 5: migrations')
  await push(deployment)
  say('2 of 5: the exposed schema')
  const key = process.env['SUPABASE_SECRET_KEY']?.trim() || await readKey(deployment)
  if (key === null) throw new StepError('There is no secret key: set SUPABASE_SECRET_KEY')
  const target: Target = { url, key }
  const exposed = await expose(target, deployment)
  if (!exposed) {
    say(
      'The schema outbox is not exposed: add it under Project Settings, Data API, Exposed schemas, ' +
        'and run outhook deploy again',
    )
    return exitCodes.undecided
  }
  say('3 of 5: functions')
  await deployFunctions(deployment)
  say('4 of 5: the secret and the URL')
  await setSecret(deployment, target)
  say('5 of 5: check')
  const { project, json } = options
  return await checkTarget(assets, target, { project, test: true, timeout: 60, json }, terminal)
}

/** Whether the Data API has the schema, after exposing it if a token of the platform is there. */
async function expose(target: Target, { targets, say }: Deployment): Promise<boolean> {
  const read = await callDataApi(target, 'check_installation', {})
  if (read.ok) return true
  const { kind, message } = read.problem
  if (kind !== 'unexposed') {
    // The Data API may need a moment to read the new schema.
    if (await waitUntilExposed(target, 20_000)) return true
    throw new StepError(`The Data API does not return the state of Outhook: ${message}`)
  }
  const { projectRef } = targets
  const token = process.env['SUPABASE_ACCESS_TOKEN']
  if (!token || projectRef === null) return false
  const api = process.env['SUPABASE_API_URL'] ?? managementApi
  const problem = await exposeSchema({ api, token, projectRef })
  if (problem !== null) say(`The schema cannot be exposed: ${problem}`)
  return problem === null && await waitUntilExposed(target, 60_000)
}
