import type { z } from 'zod'
import type {
  CallFunction,
  CallTrace,
  FunctionArgs,
  FunctionName,
} from '../_shared/database/functions.ts'
import { sameVersionAdvice } from '../_shared/database/versions.ts'
import { readSqlError, versionsDiffer } from './sql_error.ts'

export type ApiDatabase = {
  /**
   * Calls a SQL function and reads its result with a schema, so that the API returns only what its
   * description names. Throws ApiError: the database's own refusals with their texts, `unavailable`
   * for temporary errors, `module_missing` if the function's module is not installed, `internal` for
   * all others.
   */
  call<Name extends FunctionName, Result>(
    name: Name,
    args: FunctionArgs<Name>,
    schema: z.ZodType<Result>,
    trace?: CallTrace,
  ): Promise<Result>
}

/** The same database, whose audit trail gets this actor for each change; see `outbox.current_actor`. */
export function asActor(database: ApiDatabase, actor: string): ApiDatabase {
  return {
    call: (name, args, schema, trace) => database.call(name, args, schema, { ...trace, actor }),
  }
}

/** Creates it from a function that calls SQL functions. */
export function apiDatabase(callFunction: CallFunction): ApiDatabase {
  async function call<Name extends FunctionName, Result>(
    name: Name,
    args: FunctionArgs<Name>,
    schema: z.ZodType<Result>,
    trace?: CallTrace,
  ): Promise<Result> {
    const reply = await callFunction(name, args, trace)
    if (!reply.ok) throw readSqlError(name, reply.error, reply.status)
    const read = schema.safeParse(reply.data)
    if (read.success) return read.data
    const [issue] = read.error.issues
    throw versionsDiffer(
      new Error(
        `Cannot read the result of outbox.${name}: ${issue?.path.join('.')}: ${issue?.message}; ` +
          sameVersionAdvice,
      ),
    )
  }

  return { call }
}
