import { Buffer } from 'node:buffer'
import type { Exchange } from '../http/exchange.ts'
import {
  bodyOf,
  type CallbackResult,
  type CallbackTarget,
  changeOf,
  postCallback,
  type Status,
  statusOf,
} from './callbacks.ts'
import { titleOf } from './errors.ts'
import type { OtherPath, Taken } from './graph.ts'

export type PeopleOptions = {
  taken: readonly Taken[]
  /** Where a number's callbacks go. */
  target(number: string): Promise<CallbackTarget>
}

/** What a request asked for, or the problem. */
type Reply = { status: number; body: unknown }

const usage = `Answer as the person who got the last message:

  GET  /people                         the messages that WhatsApp has taken
  POST /people/<number>/deliver        the message arrives
  POST /people/<number>/read           the person reads it
  POST /people/<number>/fail?code=…    WhatsApp cannot deliver it (131026 without a code)
  POST /people/<number>/write          the person writes the text of the body, such as STOP

<number> has digits only: 12025550111.
`

/** What each command reports of a message, in WhatsApp's order. */
const commands: Record<string, Status[]> = {
  deliver: ['sent', 'delivered'],
  read: ['sent', 'delivered', 'read'],
}

/** Serves `/people`: answers to messages as the person, each by a callback to Outhook. */
export function createPeople({ taken, target }: PeopleOptions): OtherPath {
  const reported = new WeakMap<Taken, Set<Status>>()

  async function report(
    message: Taken,
    statuses: readonly Status[],
    over: Record<string, unknown> = {},
  ): Promise<Reply> {
    const known = reported.get(message) ?? new Set()
    reported.set(message, known)
    const news = statuses.filter((status) => !known.has(status))
    if (news.length === 0) {
      return { status: 409, body: { error: 'WhatsApp has reported this before' } }
    }
    const result = await callBack(message.number, {
      statuses: news.map((status) => statusOf(message, status, over)),
    })
    if (result.status === 200) { for (const status of news) known.add(status) }
    return { status: 200, body: { reported: news, callback: result } }
  }

  async function callBack(number: string, value: Record<string, unknown>): Promise<CallbackResult> {
    const to = await target(number)
    // An app without a secret accepts what is not signed, or nothing.
    const otherwise = to.secret === '' ? { signature: null } : {}
    return await postCallback(to, bodyOf(to.waba, [changeOf(number, value)]), otherwise)
  }

  async function write(person: string, text: string, last: Taken): Promise<Reply> {
    if (text === '') return { status: 400, body: { error: 'The body has no text: add -d STOP' } }
    const id = `wamid.IN${crypto.randomUUID().replaceAll('-', '')}`
    const timestamp = String(Math.floor(Date.now() / 1000))
    const result = await callBack(last.number, {
      contacts: [{ profile: { name: 'Somebody' }, wa_id: person }],
      messages: [{ id, from: person, timestamp, type: 'text', text: { body: text } }],
    })
    return { status: 200, body: { wrote: text, callback: result } }
  }

  async function command(
    person: string,
    name: string,
    { query, text }: { query: URLSearchParams; text: string },
  ): Promise<Reply> {
    const last = taken.findLast(({ body }) => body.to === `+${person}`)
    if (last === undefined) {
      const error = `WhatsApp has taken no message to +${person} since the stack was started`
      return { status: 404, body: { error } }
    }
    if (name === 'write') return await write(person, text, last)
    if (name === 'fail') {
      const code = Number(query.get('code') ?? 131026)
      if (!Number.isInteger(code)) return { status: 400, body: { error: 'code is not a number' } }
      const title = titleOf(code)
      const error = { code, title, message: title, error_data: { details: title } }
      return await report(last, ['failed'], { errors: [error] })
    }
    const statuses = Object.hasOwn(commands, name) ? commands[name] : undefined
    return statuses === undefined
      ? { status: 404, body: { error: usage } }
      : await report(last, statuses)
  }

  function list(): Reply {
    const data = taken.map((message) => ({
      to: message.body.to,
      number: message.number,
      id: message.wamid,
      at: new Date(message.at).toISOString(),
      content: Object.entries(message.body).find(([member]) => member === message.body.type)?.[1],
      reported: [...reported.get(message) ?? []],
    }))
    return { status: 200, body: { data } }
  }

  return async function answer(exchange: Exchange, words, query): Promise<void> {
    const { request: { method, body } } = exchange
    const [root = '', person = '', name = ''] = words
    const isList = method === 'GET' && person === ''
    const isCommand = method === 'POST' && /^\d{7,15}$/.test(person)
    if (root !== 'people' || !isList && !isCommand) {
      return await exchange.answer(404, usage, ['content-type: text/plain'])
    }
    const text = Buffer.from(body).toString('utf8')
    const reply = isList ? list() : await command(person, name, { query, text })
    await exchange.answer(reply.status, `${JSON.stringify(reply.body)}\n`, [
      'content-type: application/json',
    ])
  }
}
