import { body, type Client, type ClientConfig, headerFields, unexpected } from './client.ts'

/** Deno's fetch with HTTP/1.1, or with HTTP/2 over TLS. */
export function createFetch({ origins, path, ca, slots }: ClientConfig, http2 = false): Client {
  const client = Deno.createHttpClient({
    caCerts: [ca],
    http1: !http2,
    http2,
    poolMaxIdlePerHost: slots,
  })
  const urls = origins.map((origin) => origin + path)
  return {
    post: async (target, id) => {
      const response = await fetch(urls[target % urls.length] ?? '', {
        method: 'POST',
        headers: headerFields(id),
        body,
        client,
      })
      const text = await response.text()
      if (response.status !== 200) throw unexpected(response.status)
      return text
    },
    close: () => client.close(),
  }
}
