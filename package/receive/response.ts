import type { WebhookEvent } from './event.ts'
import type { HeadersIn } from './headers.ts'

/** The response to a webhook; `detail` is null if there is nothing to say. */
export interface ReceiverResponse {
  status: number
  detail: string | null
}

/** What each adapter needs of a receiver. */
export interface HandlerParts {
  receive(headers: HeadersIn, body: Uint8Array): Promise<ReceiverResponse>
  /** The response to an error that is not the sender's. */
  failure(error: unknown, event: WebhookEvent | null): ReceiverResponse
  mostBytes: number
}

export const notPost: ReceiverResponse = { status: 405, detail: 'A webhook is a POST request' }

/** The sender hung up: nobody reads this, and it is no error of the receiver. */
export const cutShort: ReceiverResponse = { status: 400, detail: 'The body ended early' }

export function tooLarge(mostBytes: number): ReceiverResponse {
  return { status: 413, detail: `The body has more than ${mostBytes} bytes` }
}

/** Headers of a response. */
export function responseHeaders({ status, detail }: ReceiverResponse): Record<string, string> {
  return {
    ...detail === null ? {} : { 'content-type': 'text/plain; charset=utf-8' },
    ...status === 405 ? { allow: 'POST' } : {},
  }
}
