// A receiver for measuring: reads each body, answers `ok`, keeps nothing. Prints its URL as one line of JSON.

async function answer(request: Request): Promise<Response> {
  await request.arrayBuffer()
  return new Response('ok')
}

function printUrl({ port }: { port: number }): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`{"url":"http://127.0.0.1:${port}"}\n`))
}

Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: printUrl }, answer)
