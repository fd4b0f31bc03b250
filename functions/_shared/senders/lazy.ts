import type { Sender } from './sender.ts'

/** How long a process names the kind as one that it cannot send, after its module has failed to load. */
const restMs = 30_000

/** The module of a sender cannot be loaded. Nothing was sent. All deliveries of one load get the same error. */
export class SenderUnavailable extends Error {
  override name = 'SenderUnavailable'
  isLogged = false
}

/**
 * Loads a sender's module with its first delivery. After a failed load, the sender is unavailable for a
 * while; the first delivery after that loads it again.
 */
export function lazySender(
  load: () => Promise<Sender>,
  now: () => number = () => performance.now(),
): Sender {
  let loading: Promise<Sender> | null = null
  let failure: { at: number; error: SenderUnavailable } | null = null

  function isAvailable(): boolean {
    return failure === null || now() - failure.at >= restMs
  }

  function loaded(): Promise<Sender> {
    if (failure !== null && !isAvailable()) return Promise.reject(failure.error)
    loading ??= load().catch((cause) => {
      loading = null
      failure = {
        at: now(),
        error: new SenderUnavailable('The sender cannot be loaded', { cause }),
      }
      throw failure.error
    })
    return loading
  }

  return {
    isAvailable,
    ready: async (...args) => await (await loaded()).ready?.(...args) ?? true,
    send: async (...args) => await (await loaded()).send(...args),
    closeIdle: async () => await (await loading?.catch(() => null))?.closeIdle?.(),
  }
}
