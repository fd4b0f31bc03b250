/**
 * What the caller does about a database error:
 * - `temporary`: the caller repeats the same call;
 * - `partial`: the database refuses a part of the call; the caller divides it to find that part;
 * - `permanent`: it stays until an operator acts; the caller logs it and retries slowly.
 */
export type FaultKind = 'temporary' | 'partial' | 'permanent'

/** An error of the database; the function of the server that raised it is known over a direct connection only. */
export type CodedError = { code: string; message?: string; routine?: string | undefined }

type Row = {
  codes: RegExp
  /** Only errors with this text, or from this function of the server, whose name has no language. */
  only?: { text: RegExp; routine: RegExp }
  kind: FaultKind
  what: string
}

/**
 * SQLSTATEs, the codes of PostgREST and of the driver, and the names of system errors. The first
 * matching row applies.
 */
export const faultTable: readonly Row[] = [
  { codes: /^$/, kind: 'temporary', what: 'no response in time' },
  { codes: /^08P01$/, kind: 'permanent', what: 'the server does not use the protocol' },
  { codes: /^08/, kind: 'temporary', what: 'the connection was lost or failed' },
  { codes: /^25006$/, kind: 'temporary', what: 'read-only: a standby server or a full disk' },
  { codes: /^25P0[123]$/, kind: 'temporary', what: 'the server ended the transaction' },
  { codes: /^40/, kind: 'temporary', what: 'a deadlock, or a snapshot that was too old' },
  { codes: /^53/, kind: 'temporary', what: 'no disk space, memory or connections left' },
  {
    codes: /^54000$/,
    only: {
      text: /^(database is not accepting commands |multixact "members" limit exceeded)/,
      routine: /^GetNew(TransactionId|MultiXactId)$/,
    },
    kind: 'temporary',
    what: 'no transaction ids left, until a vacuum has freed some',
  },
  { codes: /^55/, kind: 'temporary', what: 'a lock timeout, or an object is in use' },
  { codes: /^57P04$/, kind: 'permanent', what: 'the database was dropped' },
  { codes: /^57/, kind: 'temporary', what: 'a cancelled statement, or a server restart' },
  { codes: /^(58|XX)/, kind: 'temporary', what: 'an error of the server or its disk' },
  { codes: /^28/, kind: 'permanent', what: 'the role or its password is refused' },
  { codes: /^3D000$/, kind: 'permanent', what: 'there is no such database' },
  { codes: /^(3F000|42883|42P01|42703)$/, kind: 'permanent', what: 'another schema, or none' },
  { codes: /^42501$/, kind: 'permanent', what: 'the role may not call dispatch' },
  { codes: /^OH/, kind: 'permanent', what: 'Outhook refuses the call' },
  { codes: /^PGRST00/, kind: 'temporary', what: 'PostgREST has no connection to the database' },
  { codes: /^PGRST/, kind: 'permanent', what: 'an invalid key, or no such schema' },
  { codes: /^SASL/, kind: 'permanent', what: 'the password is refused' },
  {
    codes: /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_(TLS|SSL))/,
    kind: 'permanent',
    what: 'TLS failed',
  },
  { codes: /^(CONNECT|E[A-Z]{2})/, kind: 'temporary', what: 'the network, a pooler, or a timeout' },
  { codes: /^[0-9A-Z]{5}$/, kind: 'partial', what: 'a part of the call is refused' },
  { codes: /./, kind: 'temporary', what: 'an error of the driver' },
]

/** Classifies an error by its code: a SQLSTATE, or a code of PostgREST, the driver or the system. */
export function kindOfError(error: CodedError): FaultKind {
  return rowOfError(error)?.kind ?? 'temporary'
}

/** The row of the table that applies. */
export function rowOfError({ code, message = '', routine = '' }: CodedError): Row | undefined {
  return faultTable.find(({ codes, only }) =>
    codes.test(code) &&
    (only === undefined || only.text.test(message) || only.routine.test(routine))
  )
}

/**
 * Classifies a response of the REST gateway. supabase-js uses status 0 for a network error or our own
 * time limit.
 */
export function kindOfResponse(status: number, error: CodedError): FaultKind {
  if (error.code !== '') return kindOfError(error)
  if (status === 401 || status === 403 || status === 404) return 'permanent'
  return status === 0 || status === 408 || status === 429 || status >= 500 ? 'temporary' : 'partial'
}
