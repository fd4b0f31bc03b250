import { Buffer } from 'node:buffer'
import type { z } from 'zod'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import type { Exchange } from '../receiver/behaviours.ts'
import { startReceiver } from '../receiver/receiver.ts'
import {
  bodyOf,
  type CallbackResult,
  type CallbackTarget,
  changeOf,
  postCallback,
  type Status,
  statusOf,
} from './callbacks.ts'
import { graphError, type GraphFault } from './errors.ts'
import { creditLimit } from './limits.ts'
import { type SendBody, sendBody } from './shapes.ts'

/** A business number of the fake. */
export type GraphNumber = {
  token: string
  /** 80 as Meta's default. */
  perSecond?: number
}

/** A message that the fake has taken. */
export type Taken = { number: string; wamid: string; body: SendBody; at: number }

/** A call that it has refused. */
export type Refused = {
  number: string
  to: string | null
  code: number
  details: string
  at: number
}

/**
 * What becomes of a valid call: taken, refused, taken without a word of it (`lose`), taken and
 * answered late, or a gateway's page in place of an answer. The statuses of `early` are called back
 * before the answer.
 */
export type Turn =
  | { kind: 'take'; headers?: string[]; early?: Status[] }
  | { kind: 'refuse'; fault: GraphFault }
  | { kind: 'lose' }
  | { kind: 'delay'; ms: number }
  | { kind: 'gateway'; status: number }

export type GraphOptions = {
  numbers: Record<string, GraphNumber>
  version?: string
  /** Between a number and a person: 45 at once and one every 6 s, as Meta has it. */
  pair?: { burst: number; everyMs: number }
  /** Where each number's callbacks go. */
  callbacks?(number: string): CallbackTarget
  /** What becomes of a call that is valid and within the limits; taken unless said. */
  turn?(body: SendBody, number: string): Turn
}

export type Graph = {
  /** Without a trailing slash: the value of the setting whatsapp.graph_url. */
  url: string
  taken: Taken[]
  refused: Refused[]
  /** The messages of these numbers may be refused or lost from now on as the function says. */
  setTurn(turn: NonNullable<GraphOptions['turn']>): void
  /** Calls the statuses of a message back, in one body. */
  report(message: Taken, ...statuses: Status[]): Promise<CallbackResult>
  /** Resolves once so many messages are taken; rejects after `ms`. */
  waitForTaken(count: number, ms?: number): Promise<Taken[]>
  close(): Promise<void>
}

/** Starts a Graph API of one's own on the loopback address. */
export function startGraph(options: GraphOptions): Graph {
  const { numbers, version = 'v25.0', pair = { burst: 45, everyMs: 6_000 } } = options
  const taken: Taken[] = []
  const refused: Refused[] = []
  let turn = options.turn ?? ((): Turn => ({ kind: 'take' }))
  const pairs = creditLimit(pair.burst, pair.everyMs)
  const rates = new Map(
    Object.entries(numbers).map((
      [id, { perSecond = 80 }],
    ) => [id, creditLimit(perSecond, 1_000 / perSecond)]),
  )

  async function behave(exchange: Exchange): Promise<void> {
    const { request, words, close } = exchange
    const [number = '', edge = ''] = words
    const to = (fault: GraphFault, person: string | null = null): Promise<void> =>
      refuse(exchange, number, fault, person)
    const known = numbers[number]
    if (request.method !== 'POST' || edge !== 'messages' || known === undefined) {
      return await to({ code: 100, subcode: 33, details: `No object ${number} here` })
    }
    if (request.headers.authorization !== `Bearer ${known.token}`) return await to({ code: 190 })
    const read = readBody(exchange)
    if (!read.ok) return await to(read.fault)
    const { body } = read
    const now = performance.now()
    if (rates.get(number)?.take('', now) === false) {
      const details = 'Cloud API message throughput has been reached.'
      return await to({ code: 130429, details, subcode: 2494055 }, body.to)
    }
    if (!pairs.take(`${number} ${body.to}`, now)) {
      return await to({ code: 131056, details: 'Too many messages to this person' }, body.to)
    }
    const what = turn(body, number)
    if (what.kind === 'refuse') return await to(what.fault, body.to)
    if (what.kind === 'gateway') {
      return await exchange.answer(what.status, '<html><body>Bad gateway</body></html>')
    }
    const wamid = wamidOf(body.to)
    const message = { number, wamid, body, at: Date.now() }
    taken.push(message)
    if (what.kind === 'lose') return close()
    if (what.kind === 'take' && what.early !== undefined) await report(message, ...what.early)
    if (what.kind === 'delay') await exchange.pause(what.ms)
    const headers = what.kind === 'take' ? what.headers ?? [] : []
    await exchange.answer(200, answerOf(body, wamid), [
      'content-type: application/json',
      ...headers,
    ])
  }

  async function refuse(
    exchange: Exchange,
    number: string,
    fault: GraphFault,
    person: string | null,
  ): Promise<void> {
    const { code, details = '', headers = [] } = fault
    refused.push({ number, to: person, code, details, at: Date.now() })
    const { status, body } = graphError(fault)
    await exchange.answer(status, body, ['content-type: application/json', ...headers])
  }

  async function waitForTaken(count: number, ms = 20_000): Promise<Taken[]> {
    if (await waitUntil(() => taken.length >= count, { timeoutMs: ms })) return taken
    throw new Error(`${taken.length} of ${count} messages were taken within ${ms} ms`)
  }

  async function report(message: Taken, ...statuses: Status[]): Promise<CallbackResult> {
    const target = options.callbacks?.(message.number)
    if (target === undefined) throw new Error('startGraph() was not told where callbacks go')
    const change = changeOf(message.number, {
      statuses: statuses.map((status) => statusOf(message, status)),
    })
    return await postCallback(target, bodyOf(target.waba, [change]))
  }

  const { url, close } = startReceiver({ also: { [version]: behave } })
  return { url, taken, refused, setTurn: (next) => void (turn = next), report, waitForTaken, close }
}

type Read = { ok: true; body: SendBody } | { ok: false; fault: GraphFault }

function readBody({ request }: Exchange): Read {
  if (request.headers['content-type'] !== 'application/json') {
    return { ok: false, fault: { code: 100, details: 'The content type is not application/json' } }
  }
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(request.body).toString('utf8'))
  } catch {
    return { ok: false, fault: { code: 100, details: 'Invalid JSON' } }
  }
  const read = sendBody.safeParse(json)
  return read.success ? { ok: true, body: read.data } : { ok: false, fault: faultOf(read.error) }
}

function faultOf({ issues: [issue] }: z.ZodError): GraphFault {
  const details = issue === undefined ? '' : `${issue.path.join('.')}: ${issue.message}`
  if (issue?.code === 'unrecognized_keys') return { code: 100, details }
  const isMissing = issue?.code === 'invalid_type' && issue.message.includes('undefined')
  return { code: isMissing ? 131008 : 131009, details }
}

/** As Meta's, an id that holds the person's number for whoever decodes it. */
function wamidOf(to: string): string {
  const random = crypto.getRandomValues(new Uint8Array(10))
  return `wamid.${Buffer.concat([Buffer.from(to.slice(1)), random]).toString('base64')}`
}

function answerOf({ to, type }: SendBody, id: string): string {
  return JSON.stringify({
    messaging_product: 'whatsapp',
    contacts: [{ input: to, wa_id: to.slice(1) }],
    messages: [{ id, ...(type === 'template' ? { message_status: 'accepted' } : {}) }],
  })
}
