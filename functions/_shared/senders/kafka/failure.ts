import { type Failure, refused, unreachable } from '../broker/outcome.ts'

/** An error with a broker's error code. */
type ProtocolError = Error & { type: string }

/** The failure for an error of kafkajs. `socketError` is the cluster's last one: kafkajs drops it. */
export function failureOf(error: unknown, socketError: Error | null): Failure {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; depth++, at = at.cause) {
    if (at.name === 'KafkaJSSASLAuthenticationError') {
      return refused('login_refused', 'Kafka refuses the user name or the password')
    }
    if (isProtocolError(at)) {
      return refused(at.type, `Kafka refused the record: ${at.type} (${at.message})`)
    }
    if (at.name === 'KafkaJSRequestTimeoutError') {
      return unreachable(Object.assign(new Error(), { code: 'ETIMEDOUT' }))
    }
  }
  if (socketError !== null) return unreachable(socketError)
  return unreachable(error)
}

/** The error code of the broker in an error of kafkajs, such as MESSAGE_TOO_LARGE; null if it has none. */
export function brokerCodeOf(error: unknown): string | null {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; depth++, at = at.cause) {
    if (isProtocolError(at)) return at.type
  }
  return null
}

function isProtocolError(error: Error): error is ProtocolError {
  return 'type' in error && typeof error.type === 'string' && /^[A-Z_]+$/.test(error.type)
}
