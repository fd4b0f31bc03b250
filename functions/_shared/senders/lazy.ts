import type { Sender } from './sender.ts'

/** Loads a sender's module with its first delivery; the next delivery retries a failed load. */
export function lazySender(load: () => Promise<Sender>): Sender {
  let loading: Promise<Sender> | null = null

  function loaded(): Promise<Sender> {
    loading ??= load().catch((error) => {
      loading = null
      throw error
    })
    return loading
  }

  return {
    ready: async (...args) => await (await loaded()).ready?.(...args),
    send: async (...args) => await (await loaded()).send(...args),
    closeIdle: async () => await (await loading)?.closeIdle?.(),
  }
}
