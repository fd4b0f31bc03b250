import { DataError, readData } from '../api/data.ts'
import { type SessionOptions, withClient } from '../api/session.ts'
import { exitCodes, type Terminal } from '../terminal.ts'

/** The options of `outhook publish`. */
export interface PublishOptions extends SessionOptions {
  data: string
  idempotencyKey?: string
  partitionKey?: string
}

/** Publishes an event, and returns the exit code. */
export function publish(
  type: string,
  options: PublishOptions,
  terminal: Terminal,
): Promise<number> {
  let payload: unknown
  try {
    payload = readData(options.data)
  } catch (error) {
    if (!(error instanceof DataError)) throw error
    terminal.printError(error.message)
    return Promise.resolve(exitCodes.usage)
  }
  return withClient('publish order.paid', options, terminal, async (client) => {
    const { idempotencyKey, partitionKey, json } = options
    const published = await client.publishEvent({
      body: { type, payload, ...partitionKey === undefined ? {} : { partitionKey } },
      ...idempotencyKey === undefined ? {} : { idempotencyKey },
    })
    const text = `${published.duplicate ? 'already published' : 'published'} ${published.id}`
    terminal.print(json ? JSON.stringify(published) : text)
    return exitCodes.done
  })
}
