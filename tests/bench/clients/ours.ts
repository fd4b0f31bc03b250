import { Buffer } from 'node:buffer'
import { createAddressPolicy } from '../../../functions/_shared/connect/address.ts'
import { createHttp1Transport } from '../../../functions/_shared/transport/http1.ts'
import { workerOptions } from '../../../functions/deliver/options.ts'
import { body, type Client, type ClientConfig, headersOf, unexpected } from './client.ts'

/** The client of this project, with the limits of a worker. */
export function createOurs({ origins, path, ca }: ClientConfig): Client {
  const policy = createAddressPolicy({ allowHttp: true, allowCidrs: ['127.0.0.0/8'] })
  const transport = createHttp1Transport({
    maxSockets: workerOptions.maxOutstanding,
    maxPerOrigin: workerOptions.maxOutstanding,
    ca,
  })
  const urls = origins.map((origin) => new URL(origin + path))
  const bytes = Buffer.from(body)
  return {
    post: async (target, id) => {
      const url = urls[target % urls.length]
      if (url === undefined) throw new Error('there is no origin')
      const exchange = await transport.post({
        endpoint: String(target),
        isRepeatable: true,
        url,
        headers: headersOf(id),
        body: bytes,
        timeoutMs: 10_000,
        successBytes: 256,
        failureBytes: 256,
        policy,
      })
      if (exchange.kind === 'fault') throw new Error(exchange.errorClass)
      if (exchange.status !== 200) throw unexpected(exchange.status)
      return Buffer.from(exchange.body).toString()
    },
    close: transport.close,
  }
}
