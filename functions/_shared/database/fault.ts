/**
 * What an error of the database means for the caller:
 * - `passes`: it is temporary, so the caller repeats the same call;
 * - `member`: the database refuses a part of the call, so the caller divides it to find that part;
 * - `never`: it stays until a person changes something, so the caller logs it and retries slowly.
 */
export type FaultKind = 'passes' | 'member' | 'never'

type Row = { codes: RegExp; kind: FaultKind; what: string }

/**
 * SQLSTATEs, the codes of PostgREST and of the driver, and the names of system errors. The first
 * matching row applies.
 */
export const faultTable: readonly Row[] = [
  { codes: /^$/, kind: 'passes', what: 'no response, or none in time' },
  { codes: /^08P01$/, kind: 'never', what: 'the server does not use the protocol' },
  { codes: /^08/, kind: 'passes', what: 'the connection was lost or failed' },
  { codes: /^25006$/, kind: 'passes', what: 'the database is read-only: a failover, a full disk' },
  { codes: /^25P0[123]$/, kind: 'passes', what: 'the transaction was ended' },
  { codes: /^40/, kind: 'passes', what: 'a deadlock, or a snapshot that was too old' },
  { codes: /^53/, kind: 'passes', what: 'disk, memory or connections are used up' },
  { codes: /^55/, kind: 'passes', what: 'a lock timeout, or an object is in use' },
  { codes: /^57P04$/, kind: 'never', what: 'the database was dropped' },
  { codes: /^57/, kind: 'passes', what: 'a statement was cancelled, or the server ends or starts' },
  { codes: /^(58|XX)/, kind: 'passes', what: 'an error of the server or its disk' },
  { codes: /^28/, kind: 'never', what: 'the role or its password is refused' },
  { codes: /^3D000$/, kind: 'never', what: 'there is no such database' },
  {
    codes: /^(3F000|42883|42P01|42703)$/,
    kind: 'never',
    what: 'the schema is missing or different',
  },
  { codes: /^42501$/, kind: 'never', what: 'the role may not call dispatch' },
  { codes: /^OH/, kind: 'never', what: 'Outhook refuses the call' },
  { codes: /^PGRST00/, kind: 'passes', what: 'PostgREST has no connection to the database' },
  {
    codes: /^PGRST/,
    kind: 'never',
    what: 'the key is refused, or the schema is missing or hidden',
  },
  { codes: /^SASL/, kind: 'never', what: 'the password is refused' },
  { codes: /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_(TLS|SSL))/, kind: 'never', what: 'TLS' },
  { codes: /^(CONNECT|E[A-Z]{2})/, kind: 'passes', what: 'the network, a pooler, or a timeout' },
  { codes: /^[0-9A-Z]{5}$/, kind: 'member', what: 'something in the call is refused' },
  { codes: /./, kind: 'passes', what: 'an error of the driver' },
]

/** Classifies an error code: a SQLSTATE, or a code of PostgREST, the driver or the system. */
export function kindOfCode(code: string): FaultKind {
  return faultTable.find(({ codes }) => codes.test(code))?.kind ?? 'passes'
}

/**
 * Classifies a response of the REST gateway. supabase-js uses status 0 for a network error or our own
 * time limit.
 */
export function kindOfAnswer(status: number, code: string): FaultKind {
  if (code !== '') return kindOfCode(code)
  if (status === 401 || status === 403 || status === 404) return 'never'
  return status === 0 || status === 408 || status === 429 || status >= 500 ? 'passes' : 'member'
}
