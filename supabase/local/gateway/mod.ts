/**
 * The local stack's HTTP server: it does the work of Kong, PostgREST and the edge runtime's router for
 * `/rest/v1/rpc`, `/functions/v1` and the key set, and refuses everything else.
 *
 * Known differences: there is no safeupdate (Debian has no package of it; the SQL rules test
 * refuses an UPDATE or DELETE without WHERE instead), PGRST202 suggests a function of the
 * same name only, results
 * cannot be shaped by the query, and a connection that dies amid a call is PGRST000 instead of
 * 57P01.
 */
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import postgres from 'postgres'
import type { FunctionTargets } from '../functions/target.ts'
import type { StackKeys } from '../keys.ts'
import { createIdentifyCaller } from './caller.ts'
import { createCatalog } from './catalog.ts'
import { createUserSettings } from './context.ts'
import { RestFailure } from './failure.ts'
import { createProxy, type ProxyFunction } from './proxy.ts'
import { handleRpc, type RpcDeps } from './rpc.ts'
import { createSlots } from './slots.ts'

export interface GatewayOptions {
  /** 0: any free port. */
  port: number
  /** The connection string of the role `authenticator`. */
  authenticatorDbUrl: string
  keys: StackKeys
  /** `[api] schemas` of config.toml. */
  schemas: string[]
  /** `[api] max_rows` of config.toml. */
  maxRows: number
  /** Looked up at each request, so a Map that is filled later works. */
  functions: FunctionTargets
  /** Gets one line for each unexpected error, without keys and bodies. */
  log(line: string): void
  /** Database connections; PostgREST's default is 10. */
  poolSize?: number
  /** How long a function may take until its response starts, in ms (150,000). */
  functionIdleMs?: number
  /** How long a request waits for a function that is starting, in ms (10,000). */
  functionBootMs?: number
}

export interface Gateway {
  /** `http://127.0.0.1:<port>`: the project's URL. */
  url: string
  port: number
  /** Waits up to 2 s for open requests, aborts the others, and closes the port and connections. */
  stop(): Promise<void>
}

const SHUTDOWN_MS = 2000

/**
 * Starts the gateway on the loopback interface.
 *
 * @throws {Deno.errors.AddrInUse} if the port is taken.
 */
export function startGateway(options: GatewayOptions): Gateway {
  const poolSize = options.poolSize ?? 10
  const closing = new AbortController()
  const sql = connect(options.authenticatorDbUrl, poolSize)
  const app = createApp(
    {
      sql,
      slots: createSlots(poolSize),
      userSettings: createUserSettings(sql),
      catalog: createCatalog(sql),
      identify: createIdentifyCaller(options.keys.jwks),
      keys: options.keys,
      schemas: options.schemas,
      maxRows: options.maxRows,
    },
    createProxy({
      functions: options.functions,
      jwks: options.keys.jwks,
      idleTimeoutMs: options.functionIdleMs ?? 150_000,
      bootTimeoutMs: options.functionBootMs ?? 10_000,
      closing: closing.signal,
    }),
    options.log,
  )
  const server = Deno.serve({
    hostname: '127.0.0.1',
    port: options.port,
    onListen(): void {},
  }, (request, info) => app.fetch(request, { peer: info.remoteAddr.hostname }))

  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    port: server.addr.port,
    async stop(): Promise<void> {
      // Aborting the handlers' own work makes them respond. Aborting the server during its shutdown instead
      // throws BadResource in Deno 2.9.
      const timer = setTimeout(() => {
        closing.abort()
        void sql.end({ timeout: 0 })
      }, SHUTDOWN_MS)
      await server.shutdown()
      clearTimeout(timer)
      await sql.end({ timeout: 1 })
    },
  }
}

interface Env {
  Bindings: { peer: string }
}

function createApp(rpc: RpcDeps, proxy: ProxyFunction, log: (line: string) => void): Hono<Env> {
  const app = new Hono<Env>()
  app.use('/rest/*', cors({ origin: '*', exposeHeaders: ['Content-Range', 'Location'] }))
  app.use('/auth/*', cors({ origin: '*' }))
  app.all('/rest/v1/rpc/:fn', (c) => handleRpc(c.req.raw, c.req.param('fn'), rpc))
  app.get('/auth/v1/.well-known/jwks.json', (c) => c.json(publicKeys(rpc.keys)))
  app.all('/functions/v1/*', (c) => proxy(c.req.raw, c.env.peer))
  app.notFound((c) => absent(c.req.path).toResponse())
  app.onError((error) => {
    log(`gateway: ${error.stack ?? error.message}`)
    return new RestFailure(500, 'LOCAL500', 'The local gateway failed; see its log').toResponse()
  })
  return app
}

/** Auth publishes public keys, never the shared secret. */
function publicKeys({ jwks }: StackKeys): StackKeys['jwks'] {
  return { keys: jwks.keys.filter(({ kty }) => kty !== 'oct') }
}

function absent(path: string): RestFailure {
  return new RestFailure(
    501,
    'LOCAL501',
    `The local stack does not emulate ${path}`,
    null,
    'It has /rest/v1/rpc/<function>, /functions/v1/<name> and /auth/v1/.well-known/jwks.json; ' +
      'run `supabase start` for the rest.',
  )
}

function connect(url: string, poolSize: number): postgres.Sql {
  return postgres(url, {
    max: poolSize,
    connect_timeout: 5,
    // No lookup of types at connect: all values are read as text or bytes.
    fetch_types: false,
    onnotice(): void {},
    connection: {
      application_name: 'postgrest',
      // Makes format_type write type names with their schema.
      search_path: 'pg_catalog',
      standard_conforming_strings: 'on',
    },
  })
}
