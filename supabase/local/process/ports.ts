import { SetupError } from '../errors.ts'

/** A TCP port of 127.0.0.1 that is free now. */
export function freePort(): number {
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const { port } = listener.addr
  listener.close()
  return port
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
