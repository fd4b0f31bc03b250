import type { Buffer } from 'node:buffer'
import { Agent, type Dispatcher } from 'undici'
import { body, type Client, type ClientConfig, headersOf, unexpected } from './client.ts'

/** undici below its request function, which is its cheapest way. */
export function createUndici({ origins, path, ca, slots }: ClientConfig): Client {
  const agent = new Agent({ connections: slots, connect: { ca } })
  return {
    post: (target, id) =>
      new Promise((resolve, reject) => {
        const origin = origins[target % origins.length] ?? ''
        const request = { origin, path, method: 'POST' as const, headers: headersOf(id), body }
        agent.dispatch(request, new Answer(resolve, reject))
      }),
    close: () => agent.destroy(),
  }
}

class Answer implements Dispatcher.DispatchHandler {
  #status = 0
  #body = ''
  constructor(readonly resolve: (body: string) => void, readonly reject: (error: Error) => void) {}
  onRequestStart(): void {}
  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    this.#status = status
  }
  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body += chunk.toString()
  }
  onResponseEnd(): void {
    if (this.#status === 200) this.resolve(this.#body)
    else this.reject(unexpected(this.#status))
  }
  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    this.reject(error)
  }
}
