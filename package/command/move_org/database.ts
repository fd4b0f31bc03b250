import postgres from 'postgres'
import { needsTls } from '../remote/needs_tls.ts'

/** One side of a move, as the owner of the schema outbox reaches it. */
export interface MoveDatabase {
  /**
   * Calls a function of the schema outbox in a transaction of its own. Objects and arrays are passed as
   * jsonb. With `turn`, only if this run of the command is the last one that has taken the move. Rejects
   * with a MoveError.
   */
  call: Call
  /** Calls functions in one transaction, which is committed when `work` has ended, and otherwise rolled back. */
  within(work: (call: Call) => Promise<void>): Promise<void>
  close(): Promise<void>
}

/** Calls a function of the schema outbox. */
export type Call = <T>(
  name: string,
  args: Readonly<Record<string, Argument>>,
  turn?: Turn,
) => Promise<T>

/** The organisation, and this run of the command. */
export interface Turn {
  org: string
  run: string
}

/** An argument of a function. */
export type Argument = string | boolean | number | null | readonly unknown[] | object

/** A call that failed. `code` is the SQLSTATE, or the code of the connection's error. */
export class MoveError extends Error {
  readonly code: string
  readonly hint: string | null

  constructor(message: string, code: string, hint: string | null = null) {
    super(message)
    this.name = 'MoveError'
    this.code = code
    this.hint = hint
  }
}

/** One side in errors, and the command that uses it. */
interface Place {
  side: string
  program: 'move-org' | 'spread-org'
}

/**
 * A direct connection to one side; `side` is its name in errors. Errors have no argument, because
 * a page of endpoints contains signing secrets. Without sslmode, a host other than this machine must
 * support TLS.
 */
export function connectMove(
  url: string,
  side: string,
  program: Place['program'],
): MoveDatabase {
  const place = { side, program }
  // There is one connection at a time.
  let closed = 0
  const sql = postgres(url, {
    max: 1,
    prepare: false,
    connect_timeout: 10,
    fetch_types: false,
    onnotice: () => {},
    onclose: () => void closed++,
    ...needsTls(url) ? { ssl: 'require' as const } : {},
    // A page of a large organisation takes longer than the limit of the role may be. postgres.js leaves out
    // 0, which is no limit, so it is the highest one.
    connection: { application_name: `outhook ${program}`, statement_timeout: 2_147_483_647 },
  })
  return {
    call: callOn(sql, place),
    async within(work): Promise<void> {
      const begun = { work: Promise.resolve() }
      try {
        await sql.begin((transaction) => {
          const before = closed
          const isLost = (): boolean => closed !== before
          begun.work = work(whileOpen(callOn(transaction, place), isLost, place))
          return unless(isLost, begun.work)
        })
      } catch (error) {
        // If the connection was lost, the work still waits for the other side.
        await begun.work.catch(() => {})
        // An error of the work itself is not one of this side.
        const isOwn = error instanceof Error && 'code' in error && !(error instanceof MoveError)
        throw isOwn ? moveError(error, place) : error
      }
    },
    close: () => sql.end({ timeout: 5 }),
  }
}

/** Rejects each call after the connection was lost: it would be made in no transaction, or in the next one. */
function whileOpen(call: Call, isLost: () => boolean, place: Place): Call {
  return async (...args) => {
    if (isLost()) throw lostError('CONNECTION_CLOSED', place)
    return await call(...args)
  }
}

/** Settles as `work` does, and never if the connection was lost: the driver would roll back on what is no connection. */
function unless(isLost: () => boolean, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    work.then(
      () => isLost() || resolve(),
      (error) => isLost() || reject(error),
    )
  })
}

function callOn(sql: Pick<postgres.Sql, 'unsafe'>, place: Place): Call {
  return async <T>(
    name: string,
    args: Readonly<Record<string, Argument>>,
    turn?: Turn,
  ): Promise<T> => {
    const names = Object.keys(args)
    const values = Object.values(args)
    const list = names.map((one, at) => {
      const isJson = typeof values[at] === 'object' && values[at] !== null
      return `p_${one} => $${at + 1}${isJson ? '::text::jsonb' : ''}`
    })
    try {
      const [row] = await sql.unsafe<{ result: T }[]>(
        turn === undefined
          ? `select outbox.${name}(${list.join(', ')}) as result`
          : `with held as materialized (
              select outbox.hold_move($${names.length + 1}, $${names.length + 2}::uuid) as is_held
            ) select outbox.${name}(${list.join(', ')}) as result from held where is_held`,
        [
          ...values.map((value) =>
            typeof value === 'object' && value !== null ? JSON.stringify(value) : value
          ),
          ...turn === undefined ? [] : [turn.org, turn.run],
        ],
      )
      // SAFETY: a SELECT without FROM has one row.
      return (row as { result: T }).result
    } catch (error) {
      throw moveError(error, place)
    }
  }
}

function moveError(error: unknown, place: Place): MoveError {
  const { side, program } = place
  if (error instanceof postgres.PostgresError) {
    const { code, message, hint } = error
    if (code === '42883' || code === '3F000') {
      return new MoveError(
        `${side}: the database does not have what outhook ${program} calls`,
        code,
        'Upgrade Outhook there',
      )
    }
    return new MoveError(`${side}: ${message}`, code, hint ?? null)
  }
  return lostError(error instanceof Error && 'code' in error ? String(error.code) : '', place)
}

function lostError(code: string, { side, program }: Place): MoveError {
  return new MoveError(
    `${side}: the connection failed (${code || 'no code'})`,
    code,
    `Run the same outhook ${program} command again: it continues`,
  )
}
