import { ApiError } from '../../client/mod.ts'
import { DataError, readData } from '../api/data.ts'
import { type SessionOptions, withClient } from '../api/session.ts'
import { exitCodes, type Terminal } from '../terminal.ts'
import { sampleOf } from './sample.ts'

/** The options of `outhook trigger`. */
export interface TriggerOptions extends SessionOptions {
  /** Members that replace those of the sample. */
  data?: string
  /** Whether the event is only printed. */
  dryRun: boolean
}

/** Publishes a sample event of a type of the catalogue, and returns the exit code. */
export function trigger(
  type: string,
  options: TriggerOptions,
  terminal: Terminal,
): Promise<number> {
  return withClient('trigger order.paid', options, terminal, async (client) => {
    try {
      const { schema } = await client.getEventType({ path: { type } })
      const sample = sampleOf(schema)
      const own = options.data === undefined ? sample : readData(options.data)
      const payload = isObject(sample) && isObject(own) ? { ...sample, ...own } : own
      if (options.dryRun) {
        terminal.print(JSON.stringify(payload, null, 2))
        return exitCodes.done
      }
      const published = await client.publishEvent({ body: { type, payload } })
      terminal.print(options.json ? JSON.stringify(published) : `published ${published.id}`)
      return exitCodes.done
    } catch (error) {
      if (error instanceof DataError) {
        terminal.printError(error.message)
        return exitCodes.usage
      }
      if (!(error instanceof ApiError) || error.status !== 404) throw error
      terminal.printError(
        `${error.message}. To publish without the catalogue: outhook publish ${type} --data '{}'`,
      )
      return exitCodes.failed
    }
  })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
