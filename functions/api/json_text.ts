import { isDeeper } from '../_shared/http/json_depth.ts'
import { isLongerWritten } from '../_shared/http/json_exponents.ts'
import { isWider } from '../_shared/http/json_width.ts'
import { ApiError } from './errors.ts'

/** The limit for one object, because Postgres sorts the members. */
const mostMembers = 2000
/** The limit for all exponents of a body, because Postgres writes numbers with all their digits. */
const mostExponents = 100_000

/**
 * Refuses bytes that are not UTF-8, JSON nested deeper than `depth`, and objects with more than 2,000
 * members, before a parser reads them. With `isStored`, when Postgres stores the values as jsonb, it also
 * refuses numbers whose exponents add up to more than 100,000. It does not check whether the text is JSON.
 * Throws ApiError.
 */
export function checkJsonText(bytes: Uint8Array, depth: number, isStored: boolean): void {
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
  if (isStored && isLongerWritten(bytes, mostExponents)) {
    throw new ApiError(
      'invalid_argument',
      `The exponents of the numbers add up to more than ${mostExponents}`,
      { remedy: 'Send fewer numbers such as 1e400, or send them as texts' },
    )
  }
}
