import { isDeeper } from '../_shared/http/json_depth.ts'
import { isWider } from '../_shared/http/json_width.ts'
import { ApiError } from './errors.ts'

/** The limit for one object, because Postgres sorts the members. */
const mostMembers = 2000

/**
 * Refuses bytes that are not UTF-8, JSON nested deeper than `depth`, and objects with more than 2,000
 * members, before a parser reads them. It does not check whether the text is JSON. Throws ApiError.
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
