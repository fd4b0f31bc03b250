/**
 * The main module of a function's process: loads the entrypoint as the edge runtime does, on a free port,
 * and ends when its supervisor ends.
 */
import { announcePort } from './ready.ts'

type Serve = (
  first: Deno.ServeTcpOptions & { handler?: Deno.ServeHandler } | Deno.ServeHandler,
  second?: Deno.ServeHandler,
) => Deno.HttpServer

// SAFETY: these are the overloads of Deno.serve that an edge function can use.
const serve = Deno.serve as unknown as Serve

/** `Deno.serve` without an address: as in the edge runtime, the function cannot choose it. */
function serveHere(...[first, second]: Parameters<Serve>): Deno.HttpServer {
  const { handler, ...options } = typeof first === 'function' ? { handler: first } : first
  const chosen = second ?? handler
  if (chosen === undefined) throw new TypeError('Deno.serve needs a handler')
  return serve({
    ...options,
    hostname: '127.0.0.1',
    port: 0,
    onListen: ({ port }) => announcePort(port),
  }, chosen)
}

/** waitUntil() need not keep the process alive here; it prints the error of a failed background task. */
const edgeRuntime = {
  waitUntil(promise: Promise<unknown>): Promise<unknown> {
    promise.catch((error: unknown) => {
      Deno.stderr.writeSync(new TextEncoder().encode(`background task failed: ${error}\n`))
    })
    return promise
  },
}

/** Ends when standard input, a pipe from the supervisor, ends, even if the supervisor was killed. */
async function endWithSupervisor(): Promise<never> {
  for await (const _ of Deno.stdin.readable) { /* nothing is ever sent */ }
  Deno.exit(0)
}

/**
 * Ctrl-C reaches all processes of the terminal. Only the supervisor handles it and ends this process;
 * otherwise it would report the end and start the function again.
 */
function leaveInterruptsToSupervisor(): void {
  for (const signal of ['SIGINT', 'SIGHUP'] as const) Deno.addSignalListener(signal, () => {})
}

async function main(entrypoint: string): Promise<void> {
  leaveInterruptsToSupervisor()
  Object.defineProperty(Deno, 'serve', { value: serveHere })
  Object.defineProperty(globalThis, 'EdgeRuntime', { value: edgeRuntime })
  void endWithSupervisor()
  const module: { default?: { fetch?: unknown } } = await import(entrypoint)
  const app = module.default
  // SAFETY: the platform's contract for a default export with a `fetch`.
  if (typeof app?.fetch === 'function') serveHere(app.fetch.bind(app) as Deno.ServeHandler)
}

await main(Deno.args[0] ?? '')
