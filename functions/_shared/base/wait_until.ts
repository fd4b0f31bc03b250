type EdgeGlobal = { EdgeRuntime?: { waitUntil?(promise: Promise<unknown>): void } }

/**
 * Tells the edge runtime to stay until the promise settles. Plain Deno stays anyway and knows
 * nothing of it.
 */
export function keepAlive(promise: Promise<void>): void {
  // SAFETY: the edge runtime adds this global; it is optional here, and a missing one does nothing.
  const { EdgeRuntime } = globalThis as EdgeGlobal
  EdgeRuntime?.waitUntil?.(promise)
}
