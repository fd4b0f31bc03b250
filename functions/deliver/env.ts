import { z } from 'zod'
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
const transport = z.enum(['http1', 'fetch']).default('http1')
const proxyAuthorization = z.string()
  .regex(
    /^[A-Za-z]+ [\x21-\x7e]+$/,
    'must be a scheme and its credentials, such as Basic dXNlcjpwYXNz',
  )
  .optional()

const edge = z.object({
  SUPABASE_URL: z.url(),
  SUPABASE_SECRET_KEYS: keys,
  SUPABASE_SERVICE_ROLE_KEY: key.optional(),
  OUTHOOK_WORKER_SECRET: z.string().default(''),
  OUTHOOK_TRANSPORT: transport,
  OUTHOOK_PROXY_AUTHORIZATION: proxyAuthorization,
  OUTHOOK_DEBUG: flag,
})

const worker = z.object({
  OUTHOOK_DB_URL: z.string({ error: "is not set: set it to the database's connection string" })
    .superRefine((url, context) => {
      const problem = connectionUrlProblem(url)
      if (problem !== null) context.addIssue(problem)
    }),
  OUTHOOK_TRANSPORT: transport,
  OUTHOOK_PROXY_AUTHORIZATION: proxyAuthorization,
  OUTHOOK_DEBUG: flag,
})

type Variables = Record<string, string | undefined>

export type EdgeEnv = {
  url: string
  key: string
  kickSecrets: string[]
  transport: 'http1' | 'fetch'
  /** The Proxy-Authorization header for egress.proxy_url, if the proxy requires one. */
  proxyAuthorization: string | undefined
  debug: boolean
}

export type WorkerEnv = {
  dbUrl: string
  transport: 'http1' | 'fetch'
  proxyAuthorization: string | undefined
  debug: boolean
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
    transport: env.OUTHOOK_TRANSPORT,
    proxyAuthorization: env.OUTHOOK_PROXY_AUTHORIZATION,
    debug: env.OUTHOOK_DEBUG,
  }
}

function read<T>(schema: z.ZodType<T>, variables: Variables): T {
  const result = schema.safeParse(variables)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new Error(`Cannot start: ${issue?.path.join('.')} ${issue?.message}`)
}
