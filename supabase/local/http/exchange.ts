import type { Received } from './request.ts'

/** A request on its connection, and what a server may do with them. */
export type Exchange = {
  request: Received
  /** Which request of its connection this is, from 1. */
  nth: number
  /** Writes bytes as they are. */
  write(data: string | Uint8Array): Promise<void>
  /** Writes a whole response with a content-length; each header is a line. */
  answer(status: number, body?: string | Uint8Array, headers?: string[]): Promise<void>
  /** Resolves after `ms`, or rejects when the server closes. */
  pause(ms: number): Promise<void>
  /** Closes the connection. */
  close(): void
}

const encoder = new TextEncoder()

/** What a server can do with the connection of a request. */
export function exchangeOn(
  conn: Deno.Conn,
  about: Omit<Exchange, 'write' | 'answer'>,
): Exchange {
  async function write(data: string | Uint8Array): Promise<void> {
    let rest = typeof data === 'string' ? encoder.encode(data) : data
    while (rest.length > 0) rest = rest.subarray(await conn.write(rest))
  }

  function answer(
    status: number,
    body: string | Uint8Array = 'ok',
    headers: string[] = [],
  ): Promise<void> {
    const hasBody = status !== 204 && status !== 304
    const bytes = !hasBody
      ? new Uint8Array()
      : typeof body === 'string'
      ? encoder.encode(body)
      : body
    const length = hasBody ? [`content-length: ${bytes.length}`] : []
    const head = encoder.encode(
      `HTTP/1.1 ${status} x\r\n${[...length, ...headers, ''].join('\r\n')}\r\n`,
    )
    // One write, so that a small response is one packet.
    const whole = new Uint8Array(head.length + bytes.length)
    whole.set(head)
    whole.set(bytes, head.length)
    return write(whole)
  }

  return { ...about, write, answer }
}
