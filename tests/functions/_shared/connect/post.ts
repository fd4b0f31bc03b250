import { Buffer } from 'node:buffer'
import type { AddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import type {
  Exchange,
  PostRequest,
  Transport,
} from '../../../../functions/_shared/transport/transport.ts'
import { nextTurn } from '../../next_turn.ts'

/** POSTs a small body, and lets the connection become free for the next one. */
export async function post(
  transport: Transport,
  url: string,
  policy: AddressPolicy,
  timeoutMs = 5_000,
  more: Partial<PostRequest> = {},
): Promise<Exchange> {
  const exchange = await transport.post({
    endpoint: 'e1',
    isRepeatable: true,
    url: new URL(url),
    headers: [],
    body: Buffer.from('{}'),
    timeoutMs,
    successBytes: 256,
    failureBytes: 256,
    policy,
    ...more,
  })
  await nextTurn()
  return exchange
}
