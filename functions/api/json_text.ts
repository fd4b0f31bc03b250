import { isDeeper } from '../_shared/json_depth.ts'
import { isWider } from '../_shared/json_width.ts'
import { ApiError } from './errors.ts'

/** Of one object: filters and the database sort them. */
const mostMembers = 2000

/**
 * Refuses bytes that are not UTF-8, and JSON whose objects and arrays lie deeper in each other than
 * `depth`, or have more than 2,000 members, before a parser or a schema walks down there. Whether it is JSON at all is the parser's
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
  if (isWider(bytes, mostMembers)) {
    throw new ApiError('invalid_argument', `An object has more than ${mostMembers} members`, {
      remedy: 'Send a list, or several objects',
    })
  }
}
