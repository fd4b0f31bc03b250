import { type ClientHttp2Session, connect } from 'node:http2'
import { body, type Client, type ClientConfig, headerFields, unexpected } from './client.ts'

/** node:http2: one connection for each origin, and a stream for each POST. */
export function createHttp2({ origins, path, ca }: ClientConfig): Client {
  const sessions = new Map<string, ClientHttp2Session>()

  function sessionOf(origin: string): ClientHttp2Session {
    const known = sessions.get(origin)
    if (known !== undefined && !known.closed && !known.destroyed) return known
    const session = connect(origin, { ca })
    // A stream reports the same error.
    session.on('error', () => {})
    sessions.set(origin, session)
    return session
  }

  return {
    post: (target, id) =>
      new Promise((resolve, reject) => {
        const stream = sessionOf(origins[target % origins.length] ?? '').request({
          ...headerFields(id),
          ':method': 'POST',
          ':path': path,
          'content-length': String(body.length),
        })
        let status = 0
        let text = ''
        stream.on('response', (headers) => status = headers[':status'] ?? 0)
        stream.on('data', (chunk) => text += chunk)
        stream.on('error', reject)
        stream.on('end', () => status === 200 ? resolve(text) : reject(unexpected(status)))
        stream.end(body)
      }),
    close: () => {
      for (const session of sessions.values()) session.close()
    },
  }
}
