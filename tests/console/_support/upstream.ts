/** An HTTP server in the place of the API: it remembers what it got. */
export interface Upstream {
  url: string
  requests: { method: string; url: string; headers: Headers; body: string }[]
  stop(): Promise<void>
}

export function startUpstream(): Upstream {
  const requests: Upstream['requests'] = []
  const server = Deno.serve(
    { hostname: '127.0.0.1', port: 0, onListen(): void {} },
    async (request) => {
      const { method, url, headers } = request
      requests.push({ method, url, headers, body: await request.text() })
      if (url.endsWith('/redirect')) return Response.redirect('http://127.0.0.1:1/', 302)
      return Response.json({ ok: true }, {
        headers: { etag: '"3"', 'set-cookie': 'a=b', 'access-control-allow-origin': '*' },
      })
    },
  )
  return {
    url: `http://127.0.0.1:${server.addr.port}/functions/v1/api`,
    requests,
    stop: () => server.shutdown(),
  }
}
