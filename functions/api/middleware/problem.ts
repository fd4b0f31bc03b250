import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { z } from 'zod'
import type { Log } from '../../_shared/log.ts'
import { messageOf } from '../../_shared/errors.ts'
import type { ApiEnv } from '../context.ts'
import { ApiError, errorCodes } from '../errors.ts'

/** The answer to whatever a handler threw: problem details, never a stack. */
export function answerError(log: Log): (error: Error, c: Context<ApiEnv>) => Response {
  return function answer(error, c): Response {
    const problem = toApiError(error)
    if (problem.status >= 500) {
      log('error', 'request failed', {
        request: c.get('requestId'),
        error: messageOf(problem.cause ?? error),
      })
    }
    return problemAnswer(problem, c.get('requestId'))
  }
}

/** The problem details of an error. */
export function problemAnswer(error: ApiError, requestId: string): Response {
  const { code, status, message, field, remedy, headers } = error
  const body = {
    type: 'about:blank',
    title: errorCodes[code].title,
    status,
    code,
    detail: message,
    ...field === undefined ? {} : { field },
    ...remedy === undefined ? {} : { remedy },
    requestId,
  }
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...headers,
    },
  })
}

/** What zod found first, with the path of the member. `target` is the part of the request. */
export function readIssues(issues: readonly z.core.$ZodIssue[], target: string): ApiError {
  const [issue] = issues
  const path = issue?.path.map(String).join('.') ?? ''
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined
  const field = [path, unknown?.slice(0, 100)].filter((part) => part !== undefined && part !== '')
    .join('.')
  return new ApiError(
    'invalid_argument',
    unknown === undefined
      ? `${field === '' ? `The ${target}` : field}: ${issue?.message ?? 'is not valid'}`
      : `${field} is not a member of this request`,
    { ...field === '' ? {} : { field }, remedy: 'openapi.json describes what is expected' },
  )
}

function toApiError(error: Error): ApiError {
  if (error instanceof ApiError) return error
  // Hono's own: a body that is not JSON is all that reaches here.
  if (error instanceof HTTPException && error.status === 400) {
    return new ApiError('invalid_argument', 'The body is not JSON', {
      remedy: 'Send one JSON value in UTF-8',
    })
  }
  return new ApiError('internal', 'The request failed; the log has the reason under its id', {
    cause: error,
  })
}
