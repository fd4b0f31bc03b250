import * as z from 'zod'
import { proxyAuthorizationVariable, transportVariable } from '../_shared/base/env.ts'
import {
  projectOfFunction,
  projectVariable,
  refOfDatabaseUrl,
  refOfProject,
} from '../_shared/database/project.ts'
import { connectionUrlProblem } from '../_shared/database/url.ts'
import { parseKickSecrets } from './kick.ts'

/** Visible ASCII only: Deno quotes an invalid header value in its error, and a key must not leak. */
const key = z.string().regex(/^[\x21-\x7e]*$/, 'must have only visible ASCII characters')

const keys = z.string().optional().transform((text, context) => {
  if (text === undefined || text === '') return []
  try {
    return Object.values(z.record(z.string(), key).parse(JSON.parse(text)))
  } catch {
    context.addIssue('must be a JSON object of names and keys')
    return z.NEVER
  }
})

const flag = z.string().optional().transform((text) => text === '1' || text === 'true')

const port = z.string().trim().optional().transform((text, context) => {
  if (text === undefined || text === '') return null
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  context.addIssue('must be a port, from 0 to 65535')
  return z.NEVER
})

const edge = z.object({
  SUPABASE_URL: z.url(),
  SUPABASE_DB_URL: z.string().optional(),
  SUPABASE_SECRET_KEYS: keys,
  SUPABASE_SERVICE_ROLE_KEY: key.optional(),
  OUTHOOK_WORKER_SECRET: z.string().default(''),
  OUTHOOK_PROJECT: projectVariable,
  OUTHOOK_TRANSPORT: transportVariable,
  OUTHOOK_PROXY_AUTHORIZATION: proxyAuthorizationVariable,
  OUTHOOK_DEBUG: flag,
})

const worker = z.object({
  OUTHOOK_DB_URL: z.string({ error: "is not set: set it to the database's connection string" })
    .superRefine((url, context) => {
      const problem = connectionUrlProblem(url)
      if (problem !== null) context.addIssue(problem)
    }),
  OUTHOOK_PROJECT: projectVariable,
  OUTHOOK_TRANSPORT: transportVariable,
  OUTHOOK_PROXY_AUTHORIZATION: proxyAuthorizationVariable,
  OUTHOOK_DEBUG: flag,
  OUTHOOK_HEALTH_PORT: port,
})

type Variables = Record<string, string | undefined>

export type EdgeEnv = {
  url: string
  key: string
  project: string
  kickSecrets: string[]
  transport: 'http1' | 'fetch'
  /** The Proxy-Authorization header for egress.proxy_url, if the proxy requires one. */
  proxyAuthorization: string | undefined
  debug: boolean
}

export type WorkerEnv = {
  dbUrl: string
  project: string
  transport: 'http1' | 'fetch'
  proxyAuthorization: string | undefined
  debug: boolean
  /** Where the worker says whether it is ready and alive; 0: any free port; null: nowhere. */
  healthPort: number | null
}

/** Reads the edge function's variables; throws an error that names the invalid one, never its value. */
export function readEdgeEnv(variables: Variables): EdgeEnv {
  const env = read(edge, variables)
  const key = env.SUPABASE_SECRET_KEYS[0] ?? env.SUPABASE_SERVICE_ROLE_KEY
  if (key === undefined || key === '') {
    throw new Error(
      'Cannot start: neither SUPABASE_SECRET_KEYS nor SUPABASE_SERVICE_ROLE_KEY is set',
    )
  }
  return {
    url: env.SUPABASE_URL,
    key,
    project: projectOfFunction({
      project: env.OUTHOOK_PROJECT,
      url: env.SUPABASE_URL,
      dbUrl: env.SUPABASE_DB_URL,
    }),
    kickSecrets: parseKickSecrets(env.OUTHOOK_WORKER_SECRET),
    transport: env.OUTHOOK_TRANSPORT,
    proxyAuthorization: env.OUTHOOK_PROXY_AUTHORIZATION,
    debug: env.OUTHOOK_DEBUG,
  }
}

/** Reads the worker's variables; throws an error that names the invalid one, never its value. */
export function readWorkerEnv(variables: Variables): WorkerEnv {
  const env = read(worker, variables)
  return {
    dbUrl: env.OUTHOOK_DB_URL,
    project: projectOfWorker(env.OUTHOOK_PROJECT, env.OUTHOOK_DB_URL),
    transport: env.OUTHOOK_TRANSPORT,
    proxyAuthorization: env.OUTHOOK_PROXY_AUTHORIZATION,
    debug: env.OUTHOOK_DEBUG,
    healthPort: env.OUTHOOK_HEALTH_PORT,
  }
}

/**
 * The project of a worker. It must be named, because a copy of the database looks like the original. A
 * connection string of Supabase also names the project, so the two must not contradict each other.
 */
function projectOfWorker(project: string, dbUrl: string): string {
  const ref = refOfDatabaseUrl(dbUrl)
  const named = refOfProject(project)
  if (ref !== null && named !== null && ref !== named) {
    throw new Error(
      `Cannot start: OUTHOOK_PROJECT names the project ${named}, and OUTHOOK_DB_URL is the database ` +
        `of the project ${ref}: correct one of them`,
    )
  }
  if (project !== '') return project
  if (ref !== null) return ref
  throw new Error(
    "Cannot start: OUTHOOK_PROJECT is not set: set it to the project's URL, the same as SUPABASE_URL " +
      'of the function deliver, or to a name that no copy of this database has, such as shop-production',
  )
}

function read<T>(schema: z.ZodType<T>, variables: Variables): T {
  const result = schema.safeParse(variables)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new Error(`Cannot start: ${issue?.path.join('.')} ${issue?.message}`)
}
