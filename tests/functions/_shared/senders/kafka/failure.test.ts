import { expect } from '@std/expect'
import { failureOf } from '../../../../../functions/_shared/senders/kafka/failure.ts'

function errorOf(fields: Record<string, unknown>, cause?: Error): Error {
  return Object.assign(new Error('words of kafkajs', { cause }), fields)
}

const socket = errorOf({ code: 'ENOTFOUND' })

Deno.test('failureOf() uses the error of the broker, however deeply it is nested', () => {
  const refusal = errorOf({ name: 'KafkaJSProtocolError', type: 'MESSAGE_TOO_LARGE' })
  for (const error of [refusal, errorOf({ name: 'KafkaJSNonRetriableError' }, refusal)]) {
    expect(failureOf(error, socket))
      .toMatchObject({ error_class: 'broker', code: 'MESSAGE_TOO_LARGE' })
  }
  expect(failureOf(errorOf({ name: 'KafkaJSSASLAuthenticationError' }), null))
    .toMatchObject({ error_class: 'broker', code: 'login_refused' })
})

Deno.test('failureOf() does not mistake an error of the client for one of the broker', () => {
  for (const type of ['request', 'ECONN refused', 7]) {
    expect(failureOf(errorOf({ type }), null)).toMatchObject({ error_class: 'connect' })
  }
})

Deno.test('failureOf() uses the last socket error if the error of kafkajs has no details', () => {
  const given = errorOf({ name: 'KafkaJSNumberOfRetriesExceeded' })
  expect(failureOf(given, socket)).toMatchObject({ error_class: 'dns' })
  expect(failureOf(given, null)).toMatchObject({ error_class: 'connect' })
  expect(failureOf(errorOf({ name: 'KafkaJSRequestTimeoutError' }), socket))
    .toMatchObject({ error_class: 'timeout' })
})
