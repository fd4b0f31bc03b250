import http, { type IncomingMessage, type RequestOptions } from 'node:http'
import https from 'node:https'
import { body, type Client, type ClientConfig, headerFields, unexpected } from './client.ts'

/** node:http with an agent that keeps connections. */
export function createNodeHttp({ origins, path, ca, slots }: ClientConfig): Client {
  const { request, Agent } = origins[0]?.startsWith('https:') ? https : http
  const agent = new Agent({ keepAlive: true, maxSockets: slots, ca })
  const targets = origins.map((origin): RequestOptions => {
    const { hostname, port } = new URL(origin)
    return { agent, host: hostname, port, path, method: 'POST' }
  })
  return {
    post: (target, id) =>
      new Promise((resolve, reject) => {
        const headers = { ...headerFields(id), 'content-length': String(body.length) }
        request({ ...targets[target % targets.length], headers }, (response) => {
          readText(response).then(resolve, reject)
        }).on('error', reject).end(body)
      }),
    close: () => agent.destroy(),
  }
}

function readText(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    response.on('data', (chunk) => text += chunk)
    response.on('error', reject)
    response.on('end', () => {
      if (response.statusCode === 200) resolve(text)
      else reject(unexpected(response.statusCode))
    })
  })
}
