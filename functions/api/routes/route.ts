import type { z } from '../zod_openapi.ts'
import type { Context, MiddlewareHandler } from 'hono'
import { orgIdForm, personForm } from '../auth/principal.ts'
import type { Scope } from '../auth/scopes.ts'
import type { ApiEnv } from '../context.ts'
import { type ErrorCode, errorCodes } from '../errors.ts'
import { requireAnyScope, requireScope, requireSecretKey } from '../middleware/access.ts'
import { messageRule } from '../middleware/message_rule.ts'
import { tokenRules } from '../middleware/token_rules.ts'
import { problemSchema } from '../schemas/problem.ts'

/** Errors that every route may return. */
const always: ErrorCode[] = [
  'invalid_argument',
  'unauthenticated',
  'forbidden',
  'request_timeout',
  'too_large',
  'unsupported_media_type',
  'rate_limited',
  'headers_too_large',
  'internal',
  'module_missing',
  'unavailable',
]

/** The organisation of a request. The check of the credentials reads this header for every route. */
const orgHeader = {
  name: 'x-org-id',
  in: 'header' as const,
  required: false,
  description:
    'The organisation. With a secret key, the default is `default`. A token can name only an ' +
    'organisation of its own, and must name one if it has several.',
  schema: { type: 'string' as const, pattern: orgIdForm.source },
  example: 'org-123',
}

/** The person of a request, for the audit trail. The check of the credentials reads it. */
const actorHeader = {
  name: 'x-outhook-actor',
  in: 'header' as const,
  required: false,
  description: 'With a secret key: the person for whom the request is, as the audit trail names ' +
    'them. It is not read with a token, which is of a person.',
  schema: { type: 'string' as const, pattern: personForm.source },
  example: 'anna@example.com',
}

type Access = {
  parameters: [typeof orgHeader, typeof actorHeader]
  middleware: MiddlewareHandler<ApiEnv>[]
  security: Record<string, string[]>[]
  'x-required-scope': Scope | 'secret key' | 'any'
}

/** The scope and the credentials of a route. Every route has them, except the public ones. */
export function needs(scope: Scope): Access {
  return {
    parameters: [orgHeader, actorHeader],
    middleware: [requireScope(scope), messageRule, tokenRules],
    security: [{ secretKey: [] }, { token: [] }],
    'x-required-scope': scope,
  }
}

/** Of a route for the operator of the project alone, whose secret key it requires. */
export function needsKey(): Access {
  return {
    parameters: [orgHeader, actorHeader],
    middleware: [requireSecretKey],
    security: [{ secretKey: [] }],
    'x-required-scope': 'secret key',
  }
}

/** Of a route for every caller who may do anything at all, whatever that is. */
export function needsAnyScope(): Access {
  return {
    parameters: [orgHeader, actorHeader],
    middleware: [requireAnyScope],
    security: [{ secretKey: [] }, { token: [] }],
    'x-required-scope': 'any',
  }
}

type ProblemResponse = {
  description: string
  content: { 'application/problem+json': { schema: typeof problemSchema; example: unknown } }
}

/** The error responses of a route: those of every route, and these. */
export function problems(...codes: ErrorCode[]): Record<number, ProblemResponse> {
  const responses: Record<number, ProblemResponse> = {}
  for (const code of [...always, ...codes]) {
    const { status, title } = errorCodes[code]
    const before = responses[status]
    responses[status] = {
      description: before === undefined
        ? `${title} (\`${code}\`)`
        : `${before.description}, or: ${title} (\`${code}\`)`,
      content: {
        'application/problem+json': {
          schema: problemSchema,
          example: before?.content['application/problem+json'].example ?? {
            type: 'about:blank',
            title,
            status,
            code,
            detail: `${title}.`,
            requestId: '5f0c7f43-8f0e-4f0e-9d5c-0b1f8f5d2c11',
          },
        },
      },
    }
  }
  return responses
}

/** A required JSON body. */
export function jsonBody<Schema extends z.ZodType>(schema: Schema): {
  required: true
  content: { 'application/json': { schema: Schema } }
} {
  return { required: true, content: { 'application/json': { schema } } }
}

/** A JSON response. */
export function jsonResponse<Schema extends z.ZodType>(schema: Schema, description: string): {
  description: string
  content: { 'application/json': { schema: Schema } }
} {
  return { description, content: { 'application/json': { schema } } }
}

/** The response of a `POST` that creates an object with a path of its own: see setLocation(). */
export function createdResponse<Schema extends z.ZodType>(schema: Schema, description: string): {
  description: string
  headers: { Location: { description: string; schema: { type: 'string' } } }
  content: { 'application/json': { schema: Schema } }
} {
  return {
    ...jsonResponse(schema, description),
    headers: {
      Location: {
        description: 'The address of the new object, relative to that of the request.',
        schema: { type: 'string' },
      },
    },
  }
}

/**
 * Sets `Location` to an object below the path of the request, or below `collection`. It is relative
 * to the address that the client called, because the function does not see all of it: a gateway
 * removes `/functions/v1`.
 */
export function setLocation(
  c: Context<ApiEnv>,
  id: string,
  collection = c.req.path.split('/').at(-1),
): void {
  c.header('location', `${collection}/${encodeURIComponent(id)}`)
}

/** Responds 200 with JSON text whose numbers must stay as they are written. */
export function rawJson(c: Context<ApiEnv>, json: string): never {
  // SAFETY: the text matches the route's schema, and Hono returns a Response for c.json() too.
  return c.body(json, 200, { 'content-type': 'application/json' }) as never
}
