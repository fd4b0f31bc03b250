import type { ErrorClass, Outcome } from '../contract/contract.ts'
import { safeString, safeText } from '../base/safe_text.ts'
import { checkRoom } from './no_room.ts'
import { type Exchange, isSuccess } from '../transport/transport.ts'

/** The outcome of a POST: 2xx is delivered; a redirect and every other status is a failure. Throws NoRoom. */
export function outcomeOf(exchange: Exchange): Outcome {
  checkRoom(exchange)
  const resent = exchange.resent === true ? { resent: true } : {}
  if (exchange.kind === 'fault') {
    return { ...failed(exchange.errorClass, exchange.message), ...resent }
  }
  const { status, retryAfter } = exchange
  const { text, lossy } = safeText(exchange.body, { cut: exchange.cut })
  const kept = {
    status,
    ...(text === '' ? {} : { response: text }),
    ...(lossy ? { lossy } : {}),
    ...(exchange.cut ? { cut: true } : {}),
    ...resent,
  }
  if (isSuccess(status)) return { outcome: 'delivered', ...kept }
  const isRedirect = status >= 300 && status < 400
  return {
    ...failed(
      isRedirect ? 'redirect' : 'status',
      isRedirect
        ? `The endpoint redirects with ${status}, and redirects are not followed: use its final URL`
        : `The endpoint responded with ${status}`,
    ),
    ...kept,
    ...(retryAfter === null ? {} : { retry_after: safeString(retryAfter, 64) }),
  }
}

/** A failure; `error` is safe for the endpoint's owner to read. */
export function failed(errorClass: ErrorClass, error: string): Outcome & { outcome: 'failed' } {
  return { outcome: 'failed', error_class: errorClass, error: safeString(error, 500) }
}
