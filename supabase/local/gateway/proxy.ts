/** `/functions/v1/<name>/…`: makes the platform's checks, then forwards the request. */
import { decodeProtectedHeader, errors, jwtVerify, type JWTVerifyGetKey } from 'jose'
import type { StackKeys } from '../keys.ts'
import type { FunctionTarget, FunctionTargets } from '../functions/target.ts'
import { waitUntil } from '../process/wait.ts'
import { createKeyFinder } from './verifier.ts'

export interface ProxyDeps {
  functions: FunctionTargets
  jwks: StackKeys['jwks']
  /** The longest wait for the first byte of a response, in ms; the platform's is 150 s. */
  idleTimeoutMs: number
  /** The longest wait for a process that is starting, in ms; the platform's is 10 s. */
  bootTimeoutMs: number
  /** Aborts open requests. */
  closing: AbortSignal
}

/** Forwards one request to a function; failures are responses too. */
export type ProxyFunction = (request: Request, peer: string) => Promise<Response>

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The longest time between broken connections of a process and its end. */
const NOTICE_MS = 250

/** Headers of one connection, which are not forwarded (RFC 9110, 7.6.1). */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

export function createProxy(deps: ProxyDeps): ProxyFunction {
  const keySet = createKeyFinder(deps.jwks)

  return async function proxyFunction(request, peer): Promise<Response> {
    const url = new URL(request.url)
    const path = url.pathname.slice('/functions/v1'.length)
    const name = path.split('/')[1] ?? ''
    const target = deps.functions.get(name)
    if (target === undefined) {
      return refuse(404, 'NOT_FOUND', 'Requested function was not found')
    }
    if (!METHODS.has(request.method)) {
      return refuse(405, 'METHOD_NOT_ALLOWED', `Functions do not take the method ${request.method}`)
    }
    if (target.verifyJwt && request.method !== 'OPTIONS') {
      const refusal = await checkToken(request.headers, keySet)
      if (refusal !== null) return refusal
    }
    const origin = await liveOrigin(target, deps.bootTimeoutMs)
    if (origin === null) {
      return refuse(503, 'BOOT_ERROR', 'Function failed to start (please check logs)')
    }
    return await passOn(request, origin, `${path}${url.search}`, peer, deps)
  }
}

/**
 * The end of a process is noticed some milliseconds late. A request in between must wait for the next
 * process, so this checks the port before it forwards a body, which can be sent only once.
 */
async function liveOrigin(target: FunctionTarget, timeoutMs: number): Promise<string | null> {
  let origin: string | null = null
  const alive = await waitUntil(async () => {
    origin = await target.origin(timeoutMs)
    return origin === null || await isListening(origin)
  }, { timeoutMs, everyMs: 5 })
  return alive ? origin : null
}

async function isListening(origin: string): Promise<boolean> {
  const { hostname, port } = new URL(origin)
  try {
    const connection = await Deno.connect({ hostname, port: Number(port) })
    connection.close()
    return true
  } catch (error) {
    const { ConnectionRefused, ConnectionReset } = Deno.errors
    if (error instanceof ConnectionRefused || error instanceof ConnectionReset) return false
    throw error
  }
}

async function passOn(
  request: Request,
  origin: string,
  path: string,
  peer: string,
  { idleTimeoutMs, closing }: ProxyDeps,
): Promise<Response> {
  const idle = new AbortController()
  const timer = setTimeout(() => idle.abort(), idleTimeoutMs)
  try {
    const response = await fetch(`${origin}${path}`, {
      method: request.method,
      headers: forwardedHeaders(request, peer),
      body: request.body,
      redirect: 'manual',
      signal: AbortSignal.any([idle.signal, closing]),
    })
    return new Response(response.body, {
      status: response.status,
      statusText: response.statusText,
      headers: responseHeaders(request, response),
    })
  } catch {
    if (idle.signal.aborted) {
      const seconds = idleTimeoutMs / 1000
      return refuse(504, 'IDLE_TIMEOUT', `Function gave no response within ${seconds} seconds`)
    }
    // The caller's next request must not reach the process that is ending.
    await waitUntil(async () => !await isListening(origin), { timeoutMs: NOTICE_MS, everyMs: 5 })
    const message = 'Function exited due to an error (please check logs)'
    return refuse(500, 'WORKER_ERROR', message)
  } finally {
    clearTimeout(timer)
  }
}

function forwardedHeaders(request: Request, peer: string): Headers {
  const headers = withoutHopByHop(request.headers)
  const url = new URL(request.url)
  const before = headers.get('x-forwarded-for')
  headers.set('x-forwarded-for', before === null ? peer : `${before}, ${peer}`)
  headers.set('x-forwarded-proto', url.protocol.slice(0, -1))
  headers.set('x-forwarded-host', request.headers.get('host') ?? url.host)
  headers.set('x-forwarded-port', url.port || '80')
  headers.delete('host')
  // The gateway itself compresses the response.
  headers.set('accept-encoding', 'identity')
  return headers
}

/** Without a custom domain, hosted projects serve HTML as plain text. */
function responseHeaders(request: Request, response: Response): Headers {
  const headers = withoutHopByHop(response.headers)
  const html = headers.get('content-type')?.startsWith('text/html') ?? false
  if (html && request.method === 'GET') headers.set('content-type', 'text/plain')
  return headers
}

function withoutHopByHop(original: Headers): Headers {
  const headers = new Headers(original)
  const named = headers.get('connection')?.split(',').map((each) => each.trim()) ?? []
  for (const name of [...HOP_BY_HOP, ...named]) if (name !== '') headers.delete(name)
  return headers
}

/** `verify_jwt = true`: only a valid token passes; an `sb_…` key is not one, as on the platform. */
async function checkToken(
  headers: Headers,
  keySet: JWTVerifyGetKey,
): Promise<Response | null> {
  const authorization = headers.get('authorization') ?? headers.get('sb-api-key')
  if (authorization === null) {
    return refuse(401, 'UNAUTHORIZED_NO_AUTH_HEADER', 'Missing authorization header')
  }
  const token = authorization.replace(/^bearer\s+/i, '')
  const algorithm = algorithmOf(token)
  if (algorithm === null) return refuse(401, 'UNAUTHORIZED_INVALID_JWT_FORMAT', 'Invalid JWT')
  if (algorithm !== 'HS256' && algorithm !== 'ES256') {
    const message = `Unsupported JWT algorithm ${algorithm}`
    return refuse(401, 'UNAUTHORIZED_UNSUPPORTED_TOKEN_ALGORITHM', message)
  }
  const code = algorithm === 'HS256' ? 'UNAUTHORIZED_LEGACY_JWT' : 'UNAUTHORIZED_ASYMMETRIC_JWT'
  try {
    await jwtVerify(token, keySet, { algorithms: [algorithm] })
    return null
  } catch (error) {
    if (error instanceof errors.JOSEError) return refuse(401, code, 'Invalid JWT')
    throw error
  }
}

function algorithmOf(token: string): string | null {
  try {
    return decodeProtectedHeader(token).alg ?? null
  } catch {
    return null
  }
}

function refuse(status: number, code: string, message: string): Response {
  return Response.json({ code, message }, { status, headers: { 'sb-error-code': code } })
}
