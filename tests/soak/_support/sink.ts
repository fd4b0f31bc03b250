/** A receiver that answers 200 at once on every address of this machine, and prints its port. */

async function answer(request: Request): Promise<Response> {
  await request.arrayBuffer()
  return new Response('ok')
}

function printPort({ port }: { port: number }): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${port}\n`))
}

const server = Deno.serve({ hostname: '0.0.0.0', port: 0, onListen: printPort }, answer)
Deno.addSignalListener('SIGTERM', () => void server.shutdown().then(() => Deno.exit(0)))
