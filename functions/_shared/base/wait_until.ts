type EdgeGlobal = { EdgeRuntime?: { waitUntil?(promise: Promise<unknown>): void } }

/** Keeps an edge function's process alive until the promise settles. Plain Deno needs no such call. */
export function keepAlive(promise: Promise<void>): void {
  // SAFETY: the edge runtime adds this global; elsewhere it is absent, and nothing happens.
  const { EdgeRuntime } = globalThis as EdgeGlobal
  EdgeRuntime?.waitUntil?.(promise)
}
