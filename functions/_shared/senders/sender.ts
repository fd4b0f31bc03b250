import type { AddressPolicy } from '../connect/address.ts'
import type { Delivery, Endpoint, EventRow, Outcome, Settings } from '../contract/contract.ts'
import type { KeyCache } from '../signing/sign.ts'
import type { Transport } from '../transport/transport.ts'

/** What senders share: connections, keys, the operator's settings, and the wall clock. */
export type SenderDeps = {
  transport: Transport
  keys: KeyCache
  settings: Settings
  policy: AddressPolicy
  wallNow(): number
}

/** Sends deliveries of one kind of endpoint. */
export type Sender = {
  /**
   * Waits until the delivery may be sent. The wait belongs to no attempt: it counts neither in
   * `endpoint.timeout_ms` nor in the duration. Without it a delivery is sent at once.
   */
  ready?(delivery: Delivery, endpoint: Endpoint, event: EventRow): Promise<void>
  /** Makes one attempt within `endpoint.timeout_ms`. It reports facts, and throws only on a bug. */
  send(
    delivery: Delivery,
    endpoint: Endpoint,
    event: EventRow,
    deps: SenderDeps,
  ): Promise<Outcome>
  /** Closes the connections that nothing uses, at the end of a run. It does not reject. */
  rest?(): Promise<void>
}
