/** An error as the Graph API answers it. */
export type GraphFault = {
  code: number
  status?: number
  title?: string
  details?: string
  subcode?: number
  isTransient?: boolean
  headers?: string[]
}

/** Titles and statuses of errors. */
const known: Record<number, [title: string, status: number]> = {
  100: ['Invalid parameter', 400],
  190: ['Access token has expired', 401],
  130429: ['Rate limit hit', 429],
  131026: ['Message undeliverable', 400],
  131047: ['Re-engagement message', 400],
  131049: ['This message was not delivered to maintain healthy ecosystem engagement.', 400],
  131050: ['User has stopped marketing messages', 400],
  131008: ['Required parameter is missing', 400],
  131009: ['Parameter value is not valid', 400],
  131056: ['(Business Account, Consumer Account) pair rate limit hit', 400],
}

/** The title of an error. */
export function titleOf(code: number): string {
  return known[code]?.[0] ?? 'An error'
}

/** The status and the body of an error. */
export function graphError(
  { code, status, title, details, subcode, isTransient }: GraphFault,
): { status: number; body: string } {
  const knownStatus = known[code]?.[1] ?? 400
  const error = {
    message: `(#${code}) ${title ?? titleOf(code)}`,
    type: 'OAuthException',
    code,
    ...(details === undefined ? {} : { error_data: { messaging_product: 'whatsapp', details } }),
    ...(subcode === undefined ? {} : { error_subcode: subcode }),
    ...(isTransient === undefined ? {} : { is_transient: isTransient }),
    fbtrace_id: 'AbCdEfGhIjKlMnOpQrStUv',
  }
  return { status: status ?? knownStatus, body: JSON.stringify({ error }) }
}
