/** The reply codes of AMQP 0-9-1 by name, as in `failure_rule`. */
const names = new Map([
  [311, 'CONTENT_TOO_LARGE'],
  [312, 'NO_ROUTE'],
  [313, 'NO_CONSUMERS'],
  [320, 'CONNECTION_FORCED'],
  [402, 'INVALID_PATH'],
  [403, 'ACCESS_REFUSED'],
  [404, 'NOT_FOUND'],
  [405, 'RESOURCE_LOCKED'],
  [406, 'PRECONDITION_FAILED'],
  [501, 'FRAME_ERROR'],
  [502, 'SYNTAX_ERROR'],
  [503, 'COMMAND_INVALID'],
  [504, 'CHANNEL_ERROR'],
  [505, 'UNEXPECTED_FRAME'],
  [506, 'RESOURCE_ERROR'],
  [530, 'NOT_ALLOWED'],
  [540, 'NOT_IMPLEMENTED'],
  [541, 'INTERNAL_ERROR'],
])

/** The reply code with which RabbitMQ closed a channel or a connection; null for other errors. */
export function replyOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  if ('code' in error && typeof error.code === 'number') return names.get(error.code) ?? null
  // During connect, amqplib has the code only in its text. For a refused virtual host it reports an
  // unexpected method.
  if (error.message.startsWith('Expected ConnectionOpenOk')) return 'NOT_ALLOWED'
  const [, code] = /\b([345][0-9]{2}) \([A-Z_-]+\)/.exec(error.message) ?? []
  return code === undefined ? null : names.get(Number(code)) ?? null
}
