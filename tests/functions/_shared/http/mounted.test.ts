import { expect } from '@std/expect'
import { mounted } from '../../../../functions/_shared/http/mounted.ts'

/** The path, the query and the body that the handler of the function gets. */
async function seen(path: string): Promise<string> {
  const handle = mounted<null>('api', async (request) => {
    const { pathname, search } = new URL(request.url)
    const text = `${request.method} ${pathname}${search} ${request.headers.get('x-org-id')}`
    return new Response(`${text} ${await request.text()}`)
  })
  const headers = { 'x-org-id': 'org-1' }
  const request = new Request(`http://127.0.0.1${path}`, { method: 'POST', headers, body: '{}' })
  return await (await handle(request, null)).text()
}

const rows: [path: string, own: string][] = [
  ['/api/v1/events?limit=5', '/api/v1/events?limit=5'],
  ['/outhook-api/v1/events?limit=5', '/api/v1/events?limit=5'],
  ['/outhook-api/api/v1/events', '/api/v1/events'],
  ['/api/api/v1', '/api/api/v1'],
  ['/outhook-api', '/api'],
  ['/outhook-api/', '/api/'],
  ['/', '/api'],
]

for (const [path, own] of rows) {
  Deno.test(`mounted() passes ${path} on as ${own}, with all else of the request`, async () => {
    expect(await seen(path)).toBe(`POST ${own} org-1 {}`)
  })
}
