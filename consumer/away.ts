import postgres from 'postgres'

/** What Postgres, or a pooler in front of it, says of an error. */
export type ServerError = Pick<
  postgres.PostgresError,
  'code' | 'severity' | 'message' | 'routine'
>

/** A kind of error. */
export type AwayRow = {
  /** SQLSTATEs. */
  codes: RegExp
  /** Only errors that refuse or end the session. A handler may raise the same code, but never so. */
  endsSession?: true
  /** Only errors from this function of the server, whose name has no language. */
  routine?: RegExp
  /** Only errors with this text. */
  text?: RegExp
  isAway: boolean
  what: string
}

const ofMessage: AwayRow = {
  codes: /^/,
  isAway: false,
  what: 'what a message or its handler may cause',
}

/**
 * Whether an error says that the database cannot serve now, so that the message waits, or may be that of the
 * message, which then has a limited number of attempts. The first matching row applies.
 */
export const awayTable: readonly AwayRow[] = [
  { codes: /^25P0[34]$/, isAway: false, what: 'the handler took all the time of its transaction' },
  { codes: /^08/, isAway: true, what: 'the connection was lost, or a pooler has no server' },
  {
    codes: /^25006$/,
    isAway: true,
    what: 'read-only: a standby server, a failover or a full disk',
  },
  { codes: /^53/, isAway: true, what: 'no disk space, memory or connections left' },
  { codes: /^57P/, isAway: true, what: 'the server starts, stops or has crashed' },
  { codes: /^58/, isAway: true, what: 'an error of the disk or of the system' },
  {
    codes: /^54000$/,
    routine: /^GetNew(TransactionId|MultiXactId)$/,
    isAway: true,
    what: 'the server has no transaction ids left, until a vacuum has freed some',
  },
  { codes: /^28/, endsSession: true, isAway: true, what: 'the login is refused' },
  { codes: /^3D000$/, endsSession: true, isAway: true, what: 'there is no such database' },
  { codes: /^42501$/, endsSession: true, isAway: true, what: 'the role may not connect' },
  {
    codes: /^55000$/,
    endsSession: true,
    isAway: true,
    what: 'the database accepts no connections, or was not dropped completely',
  },
  {
    codes: /./,
    endsSession: true,
    isAway: true,
    what: 'any other refusal, such as that of a pooler without this tenant',
  },
  {
    codes: /^(3F000|42501)$/,
    text: /\bschema "?outbox"?/,
    isAway: true,
    what: 'the schema is not installed, or the role may not use it',
  },
  {
    codes: /^42501$/,
    text: /\bfunction (accept_once|consume|report_dead_message|take_events)\b/,
    isAway: true,
    what: 'the role may not call the inbox',
  },
  ofMessage,
]

/** Whether the message is certainly not the cause. Errors of the connection have no SQLSTATE. */
export function isAway(error: unknown): boolean {
  return !(error instanceof postgres.PostgresError) || rowOf(error).isAway
}

/** The row that applies. */
export function rowOf({ code, severity, message, routine }: ServerError): AwayRow {
  const endsSession = severity === 'FATAL' || severity === 'PANIC'
  return awayTable.find((row) =>
    row.codes.test(code) &&
    (row.endsSession === undefined || endsSession) &&
    (row.routine === undefined || row.routine.test(routine ?? '')) &&
    (row.text === undefined || row.text.test(message))
  ) ?? ofMessage
}
