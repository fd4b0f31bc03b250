/** What is thrown when somebody asks us to end before we are up. */
export class Interrupted extends Error {
  override name = 'Interrupted'
}

/** What a shell gives for a program that Ctrl-C has ended. */
export const INTERRUPTED_CODE = 130

/** A signal that aborts, with an `Interrupted`, when somebody asks us to end. */
export function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    Deno.addSignalListener(signal, () => controller.abort(new Interrupted('interrupted')))
  }
  return controller.signal
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<'interrupted'> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve('interrupted')
    signal.addEventListener('abort', () => resolve('interrupted'), { once: true })
  })
}

/**
 * What `work` comes to, or the signal's reason as soon as it aborts: the caller then ends what the
 * work needs, and nobody hears how the work itself ended.
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
