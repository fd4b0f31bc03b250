import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { z } from 'zod'
import type { Log } from '../../_shared/base/log.ts'
import { messageOf } from '../../_shared/base/errors.ts'
import type { ApiEnv } from '../context.ts'
import { ApiError, errorCodes } from '../errors.ts'
import { isDataException } from '../sql_error.ts'
import { findUnfitText } from '../unfit_text.ts'

/** The answer to whatever a handler threw: problem details, never a stack. */
export function answerError(log: Log): (error: Error, c: Context<ApiEnv>) => Promise<Response> {
  return async function answer(error, c): Promise<Response> {
    const known = toApiError(error)
    const problem = isDataException(known) ? await nameUnfitText(known, c) : known
    if (problem.status >= 500) {
      log('error', 'request failed', {
        request: c.get('requestId'),
        error: messageOf(problem.cause ?? error),
      })
    }
    return problemAnswer(problem, c.get('requestId'))
  }
}

/** What an application publishes is kept as it came, unfit or not. */
const payloadPath = /^(events\.[0-9]+\.)?payload$/

/** The database does not say which of the values it cannot store: looks for it in the request. */
async function nameUnfitText(error: ApiError, c: Context<ApiEnv>): Promise<ApiError> {
  const isEvent = /\/events(\/|$)/.test(c.req.path)
  const body: unknown = await c.req.json().catch(() => null)
  const field = findUnfitText(c.req.param()) ?? findUnfitText(c.req.query()) ??
    findUnfitText(body, (path) => isEvent && payloadPath.test(path))
  if (field === null || field === '') return error
  const problem = `${field} holds NUL or half a surrogate pair, which the database cannot store`
  return new ApiError(error.code, problem, {
    field,
    remedy: 'Send text without NUL and lone surrogates',
    cause: error.cause,
  })
}

/** The problem details of an error. */
export function problemAnswer(error: ApiError, requestId: string): Response {
  const { code, status, message, field, remedy, saga, headers } = error
  const body = {
    type: 'about:blank',
    title: errorCodes[code].title,
    status,
    code,
    detail: message,
    ...field === undefined ? {} : { field },
    ...remedy === undefined ? {} : { remedy },
    ...saga === undefined ? {} : { saga },
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

/**
 * What zod found, with the path of the member. `target` is the part of the request. A member that
 * nobody knows comes first: misspelt, it is also why the right one is missing.
 */
export function readIssues(issues: readonly z.core.$ZodIssue[], target: string): ApiError {
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]
  const path = issue?.path.map(String).join('.') ?? ''
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined
  const field = [path, unknown?.slice(0, 100)].filter((part) => part !== undefined && part !== '')
    .join('.')
  const name = field === '' ? `The ${target}` : field
  return new ApiError(
    'invalid_argument',
    unknown === undefined ? sayIssue(name, issue) : `${name} is not a member of this request`,
    {
      ...field === '' ? {} : { field },
      remedy: 'GET /api/v1/openapi.json describes what is expected',
    },
  )
}

function sayIssue(name: string, issue: z.core.$ZodIssue | undefined): string {
  // An issue does not carry its input: that it was undefined stands in zod's message alone.
  if (issue?.message.endsWith('received undefined')) return `${name} is missing`
  return `${name}: ${issue?.message ?? 'is not valid'}`
}

function toApiError(error: Error): ApiError {
  if (error instanceof ApiError) return error
  // Hono's own: a body that is not JSON is all that reaches here.
  if (error instanceof HTTPException && error.status === 400) {
    return new ApiError('invalid_argument', 'The body is missing or not JSON', {
      remedy: 'Send one JSON value in UTF-8: {} when there is nothing to say',
    })
  }
  return new ApiError('internal', 'The request failed; the log has the reason under its id', {
    cause: error,
  })
}
