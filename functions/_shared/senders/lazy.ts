import type { Sender } from './sender.ts'

/** A sender whose module is loaded with the first delivery; a load that failed is tried again. */
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
    rest: async () => await (await loading)?.rest?.(),
  }
}
