/** `outhook/receive`: verifies, parses and processes webhooks of Outhook. */

export type { ReceiverResponse } from './response.ts'
export { RawBodyError, WebhookError, type WebhookProblem } from './errors.ts'
export type { Catalogue, EventOf, PayloadForm, WebhookEvent } from './event.ts'
export type { HeadersIn } from './headers.ts'
export type { NodeHandler, NodeRequest, NodeResponse } from './node_handler.ts'
export {
  createReceiver,
  type OnceStore,
  type Receiver,
  type ReceiverOptions,
  type Secrets,
} from './receiver.ts'
export type { SignatureForm } from './verify.ts'
