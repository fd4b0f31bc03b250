import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { z } from 'zod'
import type { Log } from '../../_shared/base/log.ts'
import { allowedMethods, type Route } from '../../_shared/http/allowed_methods.ts'
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
    if (problem.code === 'saga_failed') {
      const fields = problem.saga ?? { error: problem.message }
      log('warn', 'saga failed', { request: c.get('requestId'), ...fields })
    } else if (problem.status >= 500) {
      log('error', 'request failed', {
        request: c.get('requestId'),
        error: messageOf(problem.cause ?? error),
      })
    }
    const isOperator = c.get('principal')?.kind === 'key'
    return errorResponse(isOperator ? problem : withoutSql(problem), c.get('requestId'))
  }
}

/** Texts that only somebody with access to the database can use. */
const sqlText = /\bselect\b|\boutbox\.|\b\w+\(\)|\bp_\w+ =>/

/**
 * The error for a caller with a token: without remedies in SQL, and without the text of a saga's own
 * error, which may name rows of others. The log has both.
 */
function withoutSql(error: ApiError): ApiError {
  const { code, field, remedy, saga, headers, cause } = error
  const isSaga = code === 'saga_failed'
  if (!isSaga && !sqlText.test(remedy ?? '')) return error
  // Only the error of a step names a step: see outbox.execute_org_saga().
  const failed = saga === undefined
    ? 'The saga failed after its last step'
    : `Step ${saga.step} of ${saga.name} failed`
  return new ApiError(code, isSaga ? failed : error.message, {
    field,
    remedy: isSaga ? 'Ask the operator, who finds the error in the log' : undefined,
    headers,
    cause,
  })
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
      ...headers,
    },
  })
}

/** The error for a request that no route handles: 405 if the path has other methods. */
export function missingRoute(
  { routes }: { routes: readonly Route[] },
  { method, path }: { method: string; path: string },
): ApiError {
  const allowed = allowedMethods(routes, path).join(', ')
  if (allowed === '') {
    return new ApiError('not_found', `There is no ${method} ${path.slice(0, 200)}`)
  }
  return new ApiError('method_not_allowed', `This path has no ${method}: use ${allowed}`, {
    headers: { allow: allowed },
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
