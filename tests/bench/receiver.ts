/**
 * The receiver, a process of its own that runs under Node: HTTP/1.1 read off the socket by hand, as
 * cheaply as it goes, since it shares the machine with what is measured. It notes the first arrival
 * of each event's number, checks one signature in 997, and hangs on paths that begin with /hang.
 */

import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import { argv, exit, stdin, stdout } from 'node:process'
import { createInterface } from 'node:readline'
import { BODY_BYTES } from './sides/_event.ts'
import { keyOf } from './sides/_sender.ts'

export type ReceiverRequest =
  /** `size` events, each for the endpoints 0 to `fan` - 1, or for any one of them when `fan` is 1. */
  | { do: 'reset'; size: number; fan?: number }
  | { do: 'await'; count: number; timeoutMs: number }
  | { do: 'report' }
  | { do: 'times'; from: number; count: number }

export interface Report {
  received: number
  distinct: number
  /** Of another size, or wrongly signed. */
  wrong: number
  /** Requests on /hang that are open now. */
  hanging: number
  lastAt: number
}

const OK = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
const HEAD_END = Buffer.from('\r\n\r\n')
const CHECK_EACH = 997
const key = keyOf(argv[2] ?? '')

let firstAt = new Float64Array(0)
let fan = 1
const report: Report = { received: 0, distinct: 0, wrong: 0, hanging: 0, lastAt: 0 }
let awaited = { count: Infinity, done: (): void => {} }

function now(): number {
  return performance.timeOrigin + performance.now()
}

function serve(socket: Socket): void {
  let rest: Buffer | null = null
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk: Buffer) => {
    let data = rest === null ? chunk : Buffer.concat([rest, chunk])
    for (;;) {
      const taken = takeRequest(socket, data)
      if (taken === 0) break
      data = data.subarray(taken)
    }
    rest = data.length === 0 ? null : data
  })
}

/** Answers the request that `data` begins with; gives its bytes, or 0 while it is not whole. */
function takeRequest(socket: Socket, data: Buffer): number {
  const headEnd = data.indexOf(HEAD_END)
  if (headEnd < 0) return 0
  const head = data.toString('latin1', 0, headEnd)
  const bytes = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
  const end = headEnd + 4 + bytes
  if (data.length < end) return 0
  if (head.startsWith('POST /hang')) {
    report.hanging++
    socket.once('close', () => report.hanging--)
  } else {
    note(head, data.subarray(headEnd + 4, end))
    socket.write(OK)
  }
  return end
}

/** The body ends with `"n":"00000123"}}`. */
function note(head: string, body: Buffer): void {
  const at = now()
  const event = Number(body.toString('latin1', body.length - 11, body.length - 3))
  const n = fan === 1 ? event : event * fan + endpointOf(head)
  report.received++
  report.lastAt = at
  const isChecked = report.received % CHECK_EACH === 0
  if (body.length !== BODY_BYTES || isChecked && !isSigned(head, body)) report.wrong++
  if (firstAt[n] !== 0) {
    // Not of this round, which is as wrong as a wrong body; a repeat is what received - distinct is.
    if (firstAt[n] === undefined) report.wrong++
    return
  }
  firstAt[n] = at
  if (++report.distinct >= awaited.count) awaited.done()
}

/** The path of endpoint 3 is /3; NaN, which is no place, for one that takes no part. */
function endpointOf(head: string): number {
  const endpoint = Number(/^POST \/(\d+) /.exec(head)?.[1])
  return endpoint < fan ? endpoint : NaN
}

function isSigned(head: string, body: Buffer): boolean {
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
    new RegExp(`\r\nwebhook-${name}: ([^\r]+)`, 'i').exec(head)?.[1]
  )
  const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body)
  return signature === `v1,${hmac.digest('base64')}`
}

async function answer(request: ReceiverRequest): Promise<unknown> {
  switch (request.do) {
    case 'reset':
      fan = request.fan ?? 1
      firstAt = new Float64Array(request.size * fan)
      Object.assign(report, { received: 0, distinct: 0, wrong: 0, lastAt: 0 })
      return {}
    case 'await':
      await arrivals(request.count, request.timeoutMs)
      return report
    case 'report':
      return report
    case 'times':
      return { times: Array.from(firstAt.subarray(request.from, request.from + request.count)) }
  }
}

function arrivals(count: number, timeoutMs: number): Promise<void> {
  if (report.distinct >= count) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(() => awaited.done(), timeoutMs)
    awaited = {
      count,
      done: () => {
        clearTimeout(timer)
        awaited = { count: Infinity, done: () => {} }
        resolve()
      },
    }
  })
}

// Eight workers open hundreds of connections each, at once: the usual 511 would turn some away.
const server = createServer(serve).listen(0, '127.0.0.1', 4_096, () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  stdout.write(`@${JSON.stringify({ ready: true, port })}\n`)
})
for await (const line of createInterface({ input: stdin })) {
  // SAFETY: the bench starts this process and asks nothing else.
  stdout.write(`@${JSON.stringify(await answer(JSON.parse(line) as ReceiverRequest))}\n`)
}
exit(0)
