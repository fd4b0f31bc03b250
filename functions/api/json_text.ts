import { isDeeper } from '../_shared/json_depth.ts'
import { ApiError } from './errors.ts'

/**
 * Refuses bytes that are not UTF-8, and JSON whose objects and arrays lie deeper in each other than
 * `depth`, before a parser or a schema walks down there. Whether it is JSON at all is the parser's
 * business. Throws ApiError.
 */
export function checkJsonText(bytes: Uint8Array, depth: number): void {
  try {
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new ApiError('invalid_argument', 'The body is not UTF-8', {
      remedy: 'Send one JSON value in UTF-8',
    })
  }
  if (isDeeper(bytes, depth)) {
    throw new ApiError('invalid_argument', `The body is nested deeper than ${depth} levels`, {
      remedy: 'Send flatter JSON',
    })
  }
}
