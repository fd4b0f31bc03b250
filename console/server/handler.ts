import type { StaticFile } from '../build/build.ts'
import { readBody } from './body.ts'
import { refuseForeign } from './guard.ts'
import { secured } from './headers.ts'
import { problemResponse } from './problem.ts'
import { proxyRequest, type Upstream } from './proxy.ts'
import type { Sessions } from './sessions.ts'

export interface ConsoleOptions {
  /** The built page, by path, such as `/assets/main.js`; `/` is the document. */
  files: ReadonlyMap<string, StaticFile>
  upstream: Upstream
  sessions: Sessions
  /** The port that it listens on, which the checks of `Host` and `Origin` need. */
  port: number
  /** Where the requests go, as the page shows it. */
  label: string
}

/** The handler of all requests to the console. */
export function createHandler(options: ConsoleOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const refusal = refuseForeign(request, options.port)
    return secured(refusal ?? await respond(request, options))
  }
}

async function respond(request: Request, options: ConsoleOptions): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/session') return await session(request, options)
  if (pathname.startsWith('/api/')) {
    if (!hasSession(request, options)) return noSession()
    return await proxyRequest(request, options.upstream)
  }
  return staticResponse(request, pathname, options.files)
}

/** The cookies of all ports of a host are sent to each of them, so the name has the port. */
function cookieName(port: number): string {
  return `outhook_console_${port}`
}

function hasSession(request: Request, { sessions, port }: ConsoleOptions): boolean {
  const name = `${cookieName(port)}=`
  const cookies = (request.headers.get('cookie') ?? '').split(/;\s*/)
  return cookies.some((one) => one.startsWith(name) && sessions.has(one.slice(name.length)))
}

/** `GET /session` says whether the browser has a session; `POST` opens one with the token of a link. */
async function session(request: Request, options: ConsoleOptions): Promise<Response> {
  const { sessions, port, label } = options
  if (request.method === 'GET') {
    return hasSession(request, options) ? Response.json({ label }) : noSession()
  }
  if (request.method !== 'POST') return wrongMethod()
  const token = await readBody(request, 100)
  const id = token === null ? null : sessions.open(new TextDecoder().decode(token))
  if (id === null) return noSession()
  const cookie = `${cookieName(port)}=${id}; HttpOnly; SameSite=Strict; Path=/`
  return Response.json({ label }, { headers: { 'set-cookie': cookie } })
}

function noSession(): Response {
  return problemResponse(401, 'unauthenticated', 'This browser has no session of the console', {
    remedy: 'Open the link that the command printed. Each link works once: press Enter there for ' +
      'a new one',
  })
}

function wrongMethod(): Response {
  return problemResponse(405, 'method_not_allowed', 'The method is not allowed here')
}

/** A file, or the document for every path of a view. */
function staticResponse(
  request: Request,
  pathname: string,
  files: ReadonlyMap<string, StaticFile>,
): Response {
  if (request.method !== 'GET' && request.method !== 'HEAD') return wrongMethod()
  const file = files.get(pathname) ??
    (pathname.startsWith('/assets/') ? undefined : files.get('/'))
  if (file === undefined) return problemResponse(404, 'not_found', 'There is no such file')
  const headers = { 'content-type': file.type }
  return new Response(request.method === 'HEAD' ? null : file.bytes, { headers })
}
