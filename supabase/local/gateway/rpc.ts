/** `/rest/v1/rpc/<function>`: runs a call in a transaction, as PostgREST does. */
import postgres from 'postgres'
import { messageOf } from '../errors.ts'
import type { StackKeys } from '../keys.ts'
import {
  type CallRow,
  readAccept,
  type ResponseOptions,
  singleFailure,
  writeResponse,
} from './response.ts'
import { type Caller, type IdentifyCaller, swapApiKey } from './caller.ts'
import type { Catalog, CatalogEntry, RoutineName } from './catalog.ts'
import { readSettings, type UserSettings } from './context.ts'
import { databaseFailure, RestFailure } from './failure.ts'
import { type Payload, readPayload } from './payload.ts'
import { chooseRoutine } from './routine.ts'
import type { Slots } from './slots.ts'
import { type Call, writeCall } from './statement.ts'

export interface RpcDeps {
  sql: postgres.Sql
  slots: Slots
  userSettings: UserSettings
  catalog: Catalog
  identify: IdentifyCaller
  keys: StackKeys
  /** The exposed schemas; the first one is the default. */
  schemas: string[]
  /** The most rows of a set; others are cut without an error, as on the platform. */
  maxRows: number
}

/** Responds to one call of a function, also after a failure. */
export async function handleRpc(request: Request, fn: string, deps: RpcDeps): Promise<Response> {
  const outcome = await callRoutine(request, fn, deps)
  return outcome instanceof RestFailure ? outcome.toResponse() : outcome
}

async function callRoutine(
  request: Request,
  fn: string,
  deps: RpcDeps,
): Promise<Response | RestFailure> {
  const authorization = swapApiKey(request.headers, deps.keys)
  const caller = await deps.identify(authorization)
  if (caller instanceof RestFailure) return caller
  if (!['GET', 'HEAD', 'POST'].includes(request.method)) {
    return new RestFailure(405, 'PGRST101', `Cannot use the ${request.method} method on RPC`)
  }
  const schema = chooseSchema(request, deps.schemas)
  if (schema instanceof RestFailure) return schema
  const accept = readAccept(request.headers.get('accept') ?? '')
  if (accept instanceof RestFailure) return accept
  const payload = await readPayload(request)
  if (payload instanceof RestFailure) return payload

  const release = await deps.slots.take()
  if (release === null) {
    const message = 'Timed out acquiring connection from connection pool.'
    return new RestFailure(504, 'PGRST003', message)
  }
  const name: RoutineName = { schema, name: fn }
  const asked = { request, deps, authorization, caller, name, payload, single: accept === 'single' }
  try {
    const known = await sent(() => deps.catalog.known(name, caller.role))
    const response = await callKnown(asked, known)
    if (!(response instanceof RestFailure) || !ABSENT.has(response.code)) return response
    // The cached entry may be outdated. None of these failures has changed anything.
    const read = await sent(() => deps.catalog.read(name, caller.role))
    const isBehind = JSON.stringify(read) !== JSON.stringify(known)
    return isBehind ? await callKnown(asked, read) : response
  } catch (error) {
    return queryFailure(error, caller.role === 'anon')
  } finally {
    release()
  }
}

/** No function matches, or several do, or Postgres does not find the function. */
const ABSENT = new Set(['PGRST202', 'PGRST203', '42883'])

interface Asked {
  request: Request
  deps: RpcDeps
  authorization: string | undefined
  caller: Caller
  name: RoutineName
  payload: Payload
  /** One object instead of an array of one. */
  single: boolean
}

/** Makes the call with a catalogue entry. */
async function callKnown(
  { request, deps, authorization, caller, name, payload, single }: Asked,
  catalog: CatalogEntry,
): Promise<Response | RestFailure> {
  const binding = chooseRoutine(catalog.routines, name, payload)
  if (binding instanceof RestFailure) return binding
  const { routine } = binding
  const prefer = readPrefer(request, catalog.txEnd)
  try {
    const settings = readSettings(request, {
      authorization,
      caller,
      catalog,
      name,
      routine,
      userSettings: await deps.userSettings(),
    })
    const options: ResponseOptions = {
      single,
      minimal: prefer.has('return=minimal'),
      head: request.method === 'HEAD',
      applied: [...prefer],
    }
    const call: Call = {
      name,
      binding,
      payload,
      settings,
      single,
      exactCount: prefer.has('count=exact'),
      rollback: prefer.has('tx=rollback'),
      maxRows: deps.maxRows,
    }
    const row = await sent(() => runCall(deps.sql, call))
    return row instanceof RestFailure ? row : writeResponse(row, routine, options)
  } catch (error) {
    return queryFailure(error, caller.role === 'anon')
  }
}

function chooseSchema(request: Request, schemas: string[]): string | RestFailure {
  const header = request.method === 'POST' ? 'content-profile' : 'accept-profile'
  const schema = request.headers.get(header) ?? schemas[0] ?? 'public'
  return schemas.includes(schema) ? schema : new RestFailure(
    406,
    'PGRST106',
    `Invalid schema: ${schema}`,
    null,
    `Only the following schemas are exposed: ${schemas.join(', ')}`,
  )
}

/** The preferences to apply; others are ignored, as without `handling=strict`. */
function readPrefer(request: Request, txEnd: string | null): Set<string> {
  const followed = new Set(['return=minimal', 'count=exact'])
  if (txEnd?.endsWith('-allow-override')) followed.add('tx=rollback').add('tx=commit')
  const given = (request.headers.get('prefer') ?? '').split(',').map((each) => each.trim())
  return new Set(given.filter((each) => followed.has(each)))
}

async function runCall(sql: postgres.Sql, call: Call): Promise<CallRow | RestFailure> {
  const statements = writeCall(call)
  const text = statements.join(';\n')
  if (text.includes('\0')) {
    const message = 'invalid byte sequence for encoding "UTF8": 0x00'
    return new RestFailure(400, '22021', message)
  }
  const at = statements.length - (call.rollback ? 2 : 1)
  if (!call.single) return readRow(await sql.unsafe(text).raw(), at)
  // Not exactly one row: the call must be rolled back, so the transaction's end waits for the count.
  return await sql.begin(async (transaction) => {
    const row = readRow(await transaction.unsafe(text).raw(), at)
    const failure = singleFailure(row)
    if (failure !== null) await transaction.unsafe('rollback')
    return failure ?? row
  })
}

function readRow(results: unknown, at: number): CallRow {
  // SAFETY: a simple query of several statements returns one result for each, and `raw` returns rows as arrays
  // of bytes; the select of writeCall() has one row of these five columns.
  const row = (results as (Uint8Array<ArrayBuffer> | null)[][][])[at]?.at(-1) ?? []
  const [body = null, count, total, status, headers] = row
  const text = (bytes: Uint8Array | null | undefined): string | null =>
    bytes ? new TextDecoder().decode(bytes) : null
  const totalText = text(total)
  return {
    body,
    count: Number(text(count)),
    total: totalText === null ? null : Number(totalText),
    status: text(status),
    headers: text(headers),
  }
}

/**
 * Repeats work that never reached the database. postgres.js (3.4.9) keeps the FATAL error of a lost
 * connection and reports it for the first query after the reconnect, which it does not send. An error of a
 * running query is never FATAL, because the connection closes first.
 */
async function sent<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof postgres.PostgresError) || error.severity !== 'FATAL') throw error
    return await work()
  }
}

/** Errors of Postgres keep their code; all others mean that there is no database. */
function queryFailure(error: unknown, anonymous: boolean): RestFailure {
  if (error instanceof postgres.PostgresError) return databaseFailure(error, anonymous)
  if (!(error instanceof Error && 'code' in error)) throw error
  const message = 'Database connection error. Retrying the connection.'
  return new RestFailure(503, 'PGRST000', message, messageOf(error))
}
