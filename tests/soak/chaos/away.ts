/** The codes of a system call on a socket whose other side is gone. */
const ofSocket = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
]

/** Those of postgres.js for a connection that has ended or cannot be opened. */
const ofDriver = [
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
]

/** SQLSTATEs of a server that ends the connection, starts or stops. */
const ofServer = [
  // The connection failed, or was lost.
  '08000',
  '08003',
  '08006',
  // It ends by a command, after the death of a process, or does not accept connections yet.
  '57P01',
  '57P02',
  '57P03',
  // No connections are left.
  '53300',
]

const codes: ReadonlySet<unknown> = new Set([...ofSocket, ...ofDriver, ...ofServer])

/** Whether an error means that the database server, or the way to it, was away. It compares codes, never texts. */
export function isServerAway(error: unknown): boolean {
  return error instanceof Error && 'code' in error && codes.has(error.code)
}
