import type { AddressPolicy } from '../connect/address.ts'
import type { Delivery, Endpoint, EventRow, Outcome, Settings } from '../contract/contract.ts'
import type { KeyCache } from '../signing/sign.ts'
import type { Transport } from '../transport/transport.ts'

/** The dependencies of senders. `wallNow` is milliseconds since 1970, on the clock of the database. */
export type SenderDeps = {
  transport: Transport
  keys: KeyCache
  settings: Settings
  policy: AddressPolicy
  wallNow(): number
}

/** Sends deliveries of one kind of endpoint. */
export type Sender = {
  /** Whether the process can send this kind now; absent: always. The run gets deliveries of no other kind. */
  isAvailable?(): boolean
  /**
   * Waits until the delivery may be sent, and resolves with true. The wait is not a part of the attempt: it
   * counts neither in `endpoint.timeout_ms` nor in the duration. False, which only a sender of an installation
   * returns: it cannot be sent for now, so it is released, which is no attempt. Absent: deliveries are sent at
   * once.
   */
  ready?(delivery: Delivery, endpoint: Endpoint, event: EventRow): Promise<boolean>
  /** Makes one attempt within `endpoint.timeout_ms` and returns facts. It rejects only on a bug, or with NoRoom if it sent nothing. */
  send(
    delivery: Delivery,
    endpoint: Endpoint,
    event: EventRow,
    deps: SenderDeps,
  ): Promise<Outcome>
  /** Called at the end of a run: closes unused connections. It does not reject. */
  closeIdle?(): Promise<void>
}

/** Senders by `endpoint.kind`. */
export type Senders = ReadonlyMap<string, Sender>
