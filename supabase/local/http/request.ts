/** A request as it came over the wire. */
export type Received = {
  method: string
  /** Path and query. */
  path: string
  /** Lower-case names; a name that came twice holds both values, with a comma. */
  headers: Record<string, string>
  body: Uint8Array
  /** Milliseconds since 1970 when its last byte came. */
  at: number
}

const decoder = new TextDecoder()

/** Reads HTTP/1.1 requests from a connection, without a library, so that responses can be invalid. */
export class RequestReader {
  #buffer = new Uint8Array(0)

  constructor(readonly conn: Deno.Conn) {}

  /** The next request, or null when the sender has closed. */
  async next(): Promise<Received | null> {
    let headEnd = -1
    while ((headEnd = endOfHead(this.#buffer)) < 0) if (!await this.#more()) return null
    const [first = '', ...lines] = decoder.decode(this.#buffer.subarray(0, headEnd)).split('\r\n')
    const [method = '', path = ''] = first.split(' ')
    const headers = readHeaders(lines)
    const bodyEnd = headEnd + 4 + Number(headers['content-length'] ?? 0)
    while (this.#buffer.length < bodyEnd) if (!await this.#more()) return null
    const body = this.#buffer.slice(headEnd + 4, bodyEnd)
    this.#buffer = this.#buffer.slice(bodyEnd)
    return { method, path, headers, body, at: Date.now() }
  }

  async #more(): Promise<boolean> {
    const chunk = new Uint8Array(65_536)
    const size = await this.conn.read(chunk)
    if (size === null) return false
    const joined = new Uint8Array(this.#buffer.length + size)
    joined.set(this.#buffer)
    joined.set(chunk.subarray(0, size), this.#buffer.length)
    this.#buffer = joined
    return true
  }
}

function endOfHead(bytes: Uint8Array): number {
  for (let at = bytes.indexOf(13); at >= 0; at = bytes.indexOf(13, at + 1)) {
    if (bytes[at + 1] === 10 && bytes[at + 2] === 13 && bytes[at + 3] === 10) return at
  }
  return -1
}

function readHeaders(lines: string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return headers
}
