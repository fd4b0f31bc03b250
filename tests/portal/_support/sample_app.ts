import type { PortalFiles } from '../../../portal/build/build.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { join } from 'node:path'

/** An app of somebody who embeds the portal: its own origin, style and Content-Security-Policy. */
export interface SampleApp {
  url: string
  /** What the app asks a token for; a test changes it before it opens the page. */
  asks: { orgId: string; body: Record<string, unknown> }
  /** The reasons for which the page asked for a token, in order. */
  reasons: string[]
  /** The ids of the tokens that it gave. */
  tokenIds: string[]
  /** Whether its own server refuses to give tokens. */
  isDown: boolean
  /** More files by path. */
  files: Map<string, Uint8Array<ArrayBuffer>>
  /** Where the API is, once the stack runs. */
  connect(api: string, secretKey: string): void
  stop(): Promise<void>
}

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
}

/** Starts it before the stack, which must know its origin. */
export async function startSampleApp(built: PortalFiles): Promise<SampleApp> {
  let api = ''
  let secretKey = ''
  const folder = join(projectRoot, 'tests/portal/_support/app')
  const files: SampleApp['files'] = new Map(built)
  for (const name of ['app.html', 'app.js', 'app.css']) {
    files.set(name, await Deno.readFile(join(folder, name)))
  }
  const app: SampleApp = {
    ...{ url: '', asks: { orgId: 'default', body: {} }, reasons: [], tokenIds: [] },
    ...{ isDown: false, files },
    connect(url, key): void {
      api = url
      secretKey = key
    },
    stop: () => server.shutdown(),
  }

  async function token(request: Request): Promise<Response> {
    app.reasons.push(await request.text())
    if (app.isDown) return new Response('closed', { status: 503 })
    const response = await fetch(`${api}/functions/v1/api/v1/portal-tokens`, {
      method: 'POST',
      headers: {
        apikey: secretKey,
        'x-org-id': app.asks.orgId,
        'content-type': 'application/json',
      },
      body: JSON.stringify(app.asks.body),
    })
    const made = await response.json()
    if (response.ok) app.tokenIds.push(made.id)
    return Response.json(made, { status: response.status })
  }

  const server = Deno.serve(
    { hostname: '127.0.0.1', port: 0, onListen(): void {} },
    async (request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/token') return await token(request)
      if (pathname === '/config') return Response.json({ api })
      const name = pathname === '/' ? 'app.html' : pathname.slice(1)
      const bytes = files.get(name)
      if (bytes === undefined) return new Response('', { status: 404 })
      const policy = [
        ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:"],
        ...[`connect-src 'self' ${api}`, "require-trusted-types-for 'script'"],
      ].join('; ')
      return new Response(bytes, {
        headers: {
          'content-type': types[name.split('.').at(-1) ?? ''] ?? 'text/plain',
          // The hosted page brings its own.
          ...name === 'index.html' ? {} : { 'content-security-policy': policy },
        },
      })
    },
  )
  app.url = `http://127.0.0.1:${server.addr.port}`
  return app
}
