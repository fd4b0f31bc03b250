import type { Exchange } from '../http/exchange.ts'
import { serveHttp } from '../http/serve.ts'
import { waitUntil } from '../process/wait.ts'
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
import { creditLimit, type Limit } from './limits.ts'
import { answerLookup, type KnownNumber } from './lookups.ts'
import { type GraphFacts, type GraphNumber, soundFacts } from './number.ts'
import { answerOf, readBody, wamidOf } from './send.ts'
import type { SendBody } from './shapes.ts'

/** A message that the server has accepted. */
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
 * What happens to a valid call: it is accepted, refused, accepted without a response (`lose`), accepted
 * with a late response, or gets the error page of a gateway. Callbacks report the statuses of `early`
 * before the response.
 */
export type Turn =
  | { kind: 'take'; headers?: string[]; early?: Status[] }
  | { kind: 'refuse'; fault: GraphFault }
  | { kind: 'lose' }
  | { kind: 'delay'; ms: number }
  | { kind: 'gateway'; status: number }

/** Handles what is not a call of the Graph API: the words of the path, and its query. */
export type OtherPath = (
  exchange: Exchange,
  words: string[],
  query: URLSearchParams,
) => Promise<void>

export type GraphOptions = {
  /** By the ids of the numbers; a function is asked at each call. */
  numbers: Record<string, GraphNumber> | (() => Promise<Record<string, GraphNumber>>)
  /** Calls of other versions find nothing; by default any version is served. */
  version?: string
  /** 0 takes any free port. */
  port?: number
  /** Paths that do not begin with a version. */
  others?: OtherPath
  /** Between a number and a person: 45 at once and one every 6 s, as Meta has it. */
  pair?: { burst: number; everyMs: number }
  /** Where each number's callbacks go. */
  callbacks?(number: string): CallbackTarget | Promise<CallbackTarget>
  /** What happens to a call that is valid and within the limits; default: it is accepted. */
  turn?(body: SendBody, number: string): Turn
}

export type Graph = {
  /** Without a trailing slash: the value of the setting whatsapp.graph_url. */
  url: string
  taken: Taken[]
  refused: Refused[]
  /** From now on, this function decides what happens to valid calls. */
  setTurn(turn: NonNullable<GraphOptions['turn']>): void
  /** Changes what the Graph API says of a number. */
  setFacts(number: string, facts: Partial<GraphFacts>): void
  /** Calls the statuses of a message back, in one body. */
  report(message: Taken, ...statuses: Status[]): Promise<CallbackResult>
  /** Resolves once so many messages are taken; rejects after `ms`. */
  waitForTaken(count: number, ms?: number): Promise<Taken[]>
  close(): Promise<void>
}

/** Starts a server with the Graph API on the loopback address. */
export function startGraph(options: GraphOptions): Graph {
  const { version, port = 0, others, pair = { burst: 45, everyMs: 6_000 } } = options
  const taken: Taken[] = []
  const refused: Refused[] = []
  let turn = options.turn ?? ((): Turn => ({ kind: 'take' }))
  const pairs = creditLimit(pair.burst, pair.everyMs)
  const rates = new Map<string, Limit>()
  const changed = new Map<string, Partial<GraphFacts>>()

  async function numbers(): Promise<Record<string, GraphNumber>> {
    return typeof options.numbers === 'function' ? await options.numbers() : options.numbers
  }

  function rateOf(id: string, { perSecond = 80 }: GraphNumber): Limit {
    const known = rates.get(id) ?? creditLimit(perSecond, 1_000 / perSecond)
    rates.set(id, known)
    return known
  }

  async function handle(exchange: Exchange): Promise<void> {
    const { request } = exchange
    const { pathname, searchParams } = new URL(request.path, 'http://graph')
    const [first = '', ...words] = pathname.split('/').slice(1)
    const isCall = version === undefined ? /^v\d+\.\d$/.test(first) : first === version
    if (!isCall && others !== undefined) {
      return await others(exchange, [first, ...words], searchParams)
    }
    if (isCall && request.method === 'GET') return await lookUp(exchange, words, searchParams)
    await send(exchange, isCall ? words : [])
  }

  async function lookUp(
    exchange: Exchange,
    [object = '', edge = '']: string[],
    query: URLSearchParams,
  ): Promise<void> {
    const known: KnownNumber[] = Object.entries(await numbers()).map(([id, number]) => ({
      ...number,
      id,
      facts: { ...soundFacts(number), ...changed.get(id) },
    }))
    const token = (exchange.request.headers.authorization ?? '').replace(/^Bearer /, '')
    const { status, body } = answerLookup({ object, edge, query, token }, known)
    await exchange.answer(status, body, ['content-type: application/json'])
  }

  async function send(exchange: Exchange, [number = '', edge = '']: string[]): Promise<void> {
    const { request, close } = exchange
    const to = (fault: GraphFault, person: string | null = null): Promise<void> =>
      refuse(exchange, number, fault, person)
    const known = (await numbers())[number]
    if (request.method !== 'POST' || edge !== 'messages' || known === undefined) {
      return await to({ code: 100, subcode: 33, details: `No object ${number} here` })
    }
    if (request.headers.authorization !== `Bearer ${known.token}`) return await to({ code: 190 })
    const read = readBody(request)
    if (!read.ok) return await to(read.fault)
    const { body } = read
    const now = performance.now()
    if (!rateOf(number, known).take('', now)) {
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
    const target = await options.callbacks?.(message.number)
    if (target === undefined) throw new Error('startGraph() was not told where callbacks go')
    const change = changeOf(message.number, {
      statuses: statuses.map((status) => statusOf(message, status)),
    })
    return await postCallback(target, bodyOf(target.waba, [change]))
  }

  const { url, close } = serveHttp({ port }, handle)
  return {
    url,
    taken,
    refused,
    setTurn: (next) => void (turn = next),
    setFacts: (number, facts) => void changed.set(number, { ...changed.get(number), ...facts }),
    report,
    waitForTaken,
    close,
  }
}
