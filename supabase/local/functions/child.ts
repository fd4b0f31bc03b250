/**
 * The main module of a function's process: loads the entrypoint as the edge runtime does, on a port
 * of the system's choice, and ends when its supervisor does.
 */
import { announcePort } from './ready.ts'

type Serve = (
  first: Deno.ServeTcpOptions & { handler?: Deno.ServeHandler } | Deno.ServeHandler,
  second?: Deno.ServeHandler,
) => Deno.HttpServer

// SAFETY: of Deno.serve's overloads these are the ones that an edge function can use.
const serve = Deno.serve as unknown as Serve

/** `Deno.serve` without its address: as in the edge runtime, a function has no say in it. */
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

/** Keeps nothing alive here, since the process stays; it shows what a background task died of. */
const edgeRuntime = {
  waitUntil(promise: Promise<unknown>): Promise<unknown> {
    promise.catch((error: unknown) => {
      Deno.stderr.writeSync(new TextEncoder().encode(`background task failed: ${error}\n`))
    })
    return promise
  },
}

/**
 * Standard input is a pipe from the supervisor; it ends when that process does, even by kill -9.
 */
async function endWithSupervisor(): Promise<never> {
  for await (const _ of Deno.stdin.readable) { /* nothing is ever sent */ }
  Deno.exit(0)
}

/**
 * Ctrl-C goes to every process of the terminal. Only the supervisor acts on it, and ends this one:
 * if this one ended by itself, the supervisor would report it and start it again.
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
