import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { z } from 'zod'
import type { Log } from '../../_shared/base/log.ts'
import { messageOf } from '../../_shared/base/errors.ts'
import type { ApiEnv } from '../context.ts'
import { ApiError, errorCodes } from '../errors.ts'
import { isDataException } from '../sql_error.ts'
import { findInvalidText } from '../invalid_text.ts'

/** The response for an error of a handler: problem details, never a stack. */
export function handleError(log: Log): (error: Error, c: Context<ApiEnv>) => Promise<Response> {
  return async function errorHandler(error, c): Promise<Response> {
    const known = toApiError(error)
    const problem = isDataException(known) ? await nameInvalidText(known, c) : known
    if (problem.status >= 500) {
      log('error', 'request failed', {
        request: c.get('requestId'),
        error: messageOf(problem.cause ?? error),
      })
    }
    return errorResponse(problem, c.get('requestId'))
  }
}

/** Payloads are stored byte for byte, so their texts are not checked. */
const payloadPath = /^(events\.[0-9]+\.)?payload$/

/** The database does not say which value it cannot store: this finds it in the request. */
async function nameInvalidText(error: ApiError, c: Context<ApiEnv>): Promise<ApiError> {
  const isEvent = /\/events(\/|$)/.test(c.req.path)
  const body: unknown = await c.req.json().catch(() => null)
  const field = findInvalidText(c.req.param()) ?? findInvalidText(c.req.query()) ??
    findInvalidText(body, (path) => isEvent && payloadPath.test(path))
  if (field === null || field === '') return error
  const problem = `${field} contains NUL or half a surrogate pair, which the database cannot store`
  return new ApiError(error.code, problem, {
    field,
    remedy: 'Send text without NUL and lone surrogates',
    cause: error.cause,
  })
}

export function errorResponse(error: ApiError, requestId: string): Response {
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
 * The error for zod's issues, with the path of the invalid member. `target` is the part of the
 * request. An unknown member comes first: if it is misspelt, the right one is missing because of it.
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
    unknown === undefined ? describeIssue(name, issue) : `${name} is unknown`,
    {
      ...field === '' ? {} : { field },
      remedy: 'See the schema of the request in GET /api/v1/openapi.json',
    },
  )
}

function describeIssue(name: string, issue: z.core.$ZodIssue | undefined): string {
  // An issue does not have its input: only zod's message says that it was undefined.
  if (issue?.message.endsWith('received undefined')) return `${name} is missing`
  return `${name}: ${issue?.message ?? 'is not valid'}`
}

function toApiError(error: Error): ApiError {
  if (error instanceof ApiError) return error
  // Hono's own error: only a body that is not JSON causes it here.
  if (error instanceof HTTPException && error.status === 400) {
    return new ApiError('invalid_argument', 'The body is missing or not JSON', {
      remedy: 'Send one JSON value in UTF-8, such as {}',
    })
  }
  return new ApiError(
    'internal',
    'The request failed; see the log of the function for this requestId',
    {
      cause: error,
    },
  )
}
