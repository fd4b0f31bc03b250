/** An SMS provider with an HTTP API. */

import { z } from 'zod'

/** An SMS that the provider took. */
export interface Sms {
  id: string
  reference: string
  from: string
  to: string
  text: string
}

export interface SmsProvider extends AsyncDisposable {
  readonly url: string
  /** What it took, in order, each reference once. */
  readonly taken: Sms[]
  /** The keys that it knows. */
  readonly keys: Set<string>
  /** Numbers that take no SMS. */
  readonly invalid: Set<string>
  /** The responses to the next requests, before anything else is checked. */
  readonly next: Response[]
}

const request = z.strictObject({
  reference: z.string(),
  from: z.string(),
  to: z.string().regex(/^\+\d{7,15}$/),
  text: z.string().min(1).max(1_600),
})

/** An error as the provider reports it. */
export function smsError(status: number, code: string): Response {
  return Response.json({ code }, { status })
}

/** Starts it on a free port. */
export function startSmsProvider(): SmsProvider {
  const taken: Sms[] = []
  const keys = new Set<string>()
  const invalid = new Set<string>()
  const next: Response[] = []

  async function take(incoming: Request): Promise<Response> {
    const json = await incoming.json()
    const prepared = next.shift()
    if (prepared !== undefined) return prepared
    const [, key = ''] = /^Bearer (.+)$/.exec(incoming.headers.get('authorization') ?? '') ?? []
    if (!keys.has(key)) return smsError(401, 'invalid_key')
    const read = request.safeParse(json)
    if (!read.success) return smsError(400, 'invalid_request')
    if (invalid.has(read.data.to)) return smsError(400, 'invalid_number')
    const known = taken.find(({ reference }) => reference === read.data.reference)
    if (known !== undefined) return Response.json({ id: known.id })
    const sms = { id: `sms-${taken.length + 1}`, ...read.data }
    taken.push(sms)
    return Response.json({ id: sms.id })
  }

  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, take)
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    taken,
    keys,
    invalid,
    next,
    [Symbol.asyncDispose]: () => server.shutdown(),
  }
}
