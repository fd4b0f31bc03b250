/** Aborted when somebody asks this process to end. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    Deno.addSignalListener(signal, () => stop.abort())
  }
  return stop.signal
}
