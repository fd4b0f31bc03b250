import type { z } from 'zod'
import type {
  CallFunction,
  CallTrace,
  FunctionArgs,
  FunctionName,
} from '../_shared/database/functions.ts'
import { sameVersionAdvice } from '../_shared/database/versions.ts'
import { readSqlError, versionsDiffer } from './sql_error.ts'

/** The one way from the API to the database. */
export type ApiDatabase = {
  /**
   * Calls a SQL function and reads its answer by a schema, so that nothing leaves the API that its
   * description does not name. Throws ApiError: the database's own refusals in its words,
   * `unavailable` for what passes by itself, `module_missing` if the module of the function is not
   * installed, `internal` for the rest.
   */
  call<Name extends FunctionName, Answer>(
    name: Name,
    args: FunctionArgs<Name>,
    answer: z.ZodType<Answer>,
    trace?: CallTrace,
  ): Promise<Answer>
}

/** Makes it of whatever calls functions. */
export function apiDatabase(callFunction: CallFunction): ApiDatabase {
  async function call<Name extends FunctionName, Answer>(
    name: Name,
    args: FunctionArgs<Name>,
    answer: z.ZodType<Answer>,
    trace?: CallTrace,
  ): Promise<Answer> {
    const reply = await callFunction(name, args, trace)
    if (!reply.ok) throw readSqlError(name, reply.error, reply.status)
    const read = answer.safeParse(reply.data)
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
