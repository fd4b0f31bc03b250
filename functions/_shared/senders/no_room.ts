import type { Exchange } from '../transport/transport.ts'

/** This process had no room to send the delivery now. Nothing was sent. */
export class NoRoom extends Error {
  override name = 'NoRoom'
}

/** Throws NoRoom if that is why there is no response, so that the delivery is released, which is no attempt. */
export function checkRoom(exchange: Exchange): void {
  if (exchange.kind !== 'fault' || exchange.isOurs !== true) return
  // Sent once, it is an attempt.
  if (exchange.resent !== true) throw new NoRoom(exchange.message)
}
