import type { Output } from '../../../package/client/operation_types.ts'

type Delivery = Output<'getDelivery'>

/** What an error class means, and what helps: the same as in the table error_hint. */
export const errorHints: Readonly<Record<string, string>> = {
  dns: 'The host name cannot be resolved: check its spelling and its DNS records',
  blocked: 'The address or the port is not allowed: use a public host and port 443, or ask the ' +
    'operator to allow the network',
  connect: 'The server accepts no connection, or not in time: check that it runs and that its ' +
    'firewall allows the sender',
  tls: 'The TLS handshake failed: check the certificate, its chain and its name, and that the ' +
    'server supports TLS 1.2 or newer',
  timeout: 'There was no response in time: respond first and process later, or raise the timeout ' +
    'of the endpoint',
  reset:
    'The connection was closed before a response: check the server and the proxy in front of it',
  redirect: 'The endpoint redirects, and redirects are not followed: set the final URL',
  status: 'The endpoint responded with a failure: check its log and the stored response',
  too_large: 'The headers of the response are too large: send fewer',
  protocol: 'The response is not valid HTTP: check that the URL leads to an HTTP/1.1 server, and ' +
    'the settings of the endpoint',
  lease_expired: 'The run ended before it reported a result: the request may have been sent, and ' +
    'is retried',
}

/** `once`, `6 times`. */
export function timesOf(n: number | null): string {
  if (n === null) return 'several times'
  return n === 1 ? 'once' : `${n} times`
}

/** Why a delivery is where it is, and what happens next, in a sentence. */
export function explainDelivery({ status, reason, failedAttempts }: Delivery): string {
  const because = reason === null ? '' : `: ${reason}`
  const texts: Record<Delivery['status'], string> = {
    pending: 'It waits to be sent.',
    processing: 'A request is in flight.',
    retrying: 'The last attempt failed. It is retried on the schedule of the endpoint.',
    held: `It cannot be sent now${because}.`,
    delivered: 'The endpoint has accepted it.',
    dead_letter: `It failed ${timesOf(failedAttempts)} and will not be retried${because}. ` +
      'Replay it when the endpoint is repaired.',
    cancelled: `It was cancelled${because}.`,
    expired: 'It was open for longer than events are stored. Replay it if it still matters.',
    filter_error: 'The filter of the subscription failed on this payload, so it was not sent.',
    event_missing: 'The event was deleted before it could be sent.',
  }
  return texts[status]
}
