import type { ChannelFindings, CheckChannel } from './check.ts'

export type CheckOptions = {
  transport: 'http1' | 'fetch'
  proxyAuthorization?: string | undefined
  checkMs?: number
  wallNow(): number
}

/** The check of a channel. The HTTP client is loaded at its first use, because few calls need it. */
export function lazyChannelCheck(options: CheckOptions): CheckChannel {
  let loading: Promise<CheckChannel> | null = null

  function loaded(): Promise<CheckChannel> {
    loading ??= load(options).catch((error) => {
      loading = null
      throw error
    })
    return loading
  }

  return async function checkChannel(access): Promise<ChannelFindings> {
    return await (await loaded())(access)
  }
}

async function load(
  { transport, proxyAuthorization, checkMs, wallNow }: CheckOptions,
): Promise<CheckChannel> {
  const [{ channelChecker }, { createPolicySource }] = await Promise.all([
    import('./check.ts'),
    import('../../_shared/connect/address.ts'),
  ])
  const policyOf = createPolicySource()
  if (transport === 'fetch') {
    const { createFetchTransport } = await import('../../_shared/transport/fetch.ts')
    return channelChecker({ transport: createFetchTransport(), policyOf, checkMs, wallNow })
  }
  const { createHttp1Transport } = await import('../../_shared/transport/http1.ts')
  const options = {
    maxSockets: 32,
    maxPerOrigin: 8,
    ...proxyAuthorization === undefined ? {} : { proxyAuthorization },
  }
  return channelChecker({ transport: createHttp1Transport(options), policyOf, checkMs, wallNow })
}
