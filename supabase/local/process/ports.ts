import { SetupError } from '../errors.ts'

/**
 * No operating system gives these to connections unless it is told to: Linux begins at 32768, macOS and
 * Windows at 49152. A port of a connection would be taken again before a slow server listens on it.
 */
const LOWEST = 10_240
const HIGHEST = 32_767

/** What this process has been given. */
const given = new Set<number>()

/** A TCP port of 127.0.0.1 that is free now, for a server; another one with each call. */
export function freePort(): number {
  for (let tries = 0; tries < 10_000; tries++) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST + 1))
    if (given.has(port) || !isPortFree(port)) continue
    given.add(port)
    return port
  }
  throw new SetupError(
    `no port from ${LOWEST} to ${HIGHEST} of 127.0.0.1 is free: stop what uses them`,
  )
}

/** Whether nothing listens on `port` of 127.0.0.1 or of all addresses. */
export function isPortFree(port: number): boolean {
  try {
    Deno.listen({ hostname: '127.0.0.1', port }).close()
    return true
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return false
    throw error
  }
}

/** Throws a SetupError with the likely user of the port and the remedy, unless the port is free. */
export function requireFreePort(port: number, purpose: string): void {
  if (isPortFree(port)) return
  throw new SetupError(
    `port ${port} (${purpose}) is taken, perhaps by another copy of this stack or by ` +
      '`supabase start`: stop that, or run with --free-ports',
  )
}
