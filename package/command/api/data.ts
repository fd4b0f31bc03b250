import { readFileSync } from 'node:fs'

/** Why the data of an event cannot be used. */
export class DataError extends Error {}

/** The data of an event: JSON, or `@file`, or `@-` for standard input. Throws a DataError. */
export function readData(text: string): unknown {
  let json = text
  if (text.startsWith('@')) {
    try {
      json = readFileSync(text === '@-' ? 0 : text.slice(1), 'utf8')
    } catch (error) {
      throw new DataError(
        `--data cannot be read: ${error instanceof Error ? error.message : error}`,
      )
    }
  }
  try {
    return JSON.parse(json)
  } catch {
    throw new DataError('--data is not JSON. Example: --data \'{"id": 1}\' or --data @order.json')
  }
}
