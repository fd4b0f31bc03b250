/** A signal that is aborted by SIGTERM or SIGINT. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    Deno.addSignalListener(signal, () => stop.abort())
  }
  return stop.signal
}
