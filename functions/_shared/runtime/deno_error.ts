/**
 * Adds a code by which faultOf() recognises an error of TLS. A connection that ends without the end of TLS is a
 * reset: its last response may be incomplete (RFC 9112 section 9.8).
 */
export function coded(error: unknown): unknown {
  if (error instanceof Deno.errors.UnexpectedEof) {
    return Object.assign(error, { code: 'ECONNRESET' })
  }
  if (error instanceof Deno.errors.InvalidData) return Object.assign(error, { code: 'OUTHOOK_TLS' })
  return error
}
