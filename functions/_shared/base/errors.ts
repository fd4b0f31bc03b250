/**
 * The message of a thrown value; an object that is no Error, such as the Data API's, may have one too. It is
 * never empty.
 */
export function messageOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('message' in error)) return String(error)
  return textOf(error)
}

function textOf(error: object, depth = 0): string {
  const message = 'message' in error ? String(error.message) : ''
  const text = message.trimEnd()
  // A library may quote an error that has no text, such as kafkajs: "Connection error: ".
  if (text !== '' && !text.endsWith(':')) return message
  return [text, reasonOf(error, depth)].filter((part) => part !== '').join(' ')
}

/** A thrown value as an Error. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error))
}

/**
 * Why it failed, of an error without a text. If a name has several addresses and none of them can be
 * connected to, the error has no text of its own, but a code and the error of each address.
 */
function reasonOf(error: object, depth: number): string {
  if ('errors' in error && Array.isArray(error.errors) && error.errors.length > 0) {
    return [...new Set(error.errors.map(messageOf))].join('; ')
  }
  if ('code' in error && typeof error.code === 'string' && error.code !== '') return error.code
  const cause = 'cause' in error ? error.cause : undefined
  if (typeof cause === 'object' && cause !== null && depth < 5) return textOf(cause, depth + 1)
  return 'name' in error ? String(error.name) : 'Error'
}
