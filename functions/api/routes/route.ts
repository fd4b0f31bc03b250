import type { z } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import type { Role } from '../auth/principal.ts'
import type { ApiEnv } from '../context.ts'
import { type ErrorCode, errorCodes } from '../errors.ts'
import { requireRole } from '../middleware/access.ts'
import { problemSchema } from '../schemas/problem.ts'

/** What any route may answer. */
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

type Access = {
  middleware: [MiddlewareHandler<ApiEnv>]
  security: Record<string, string[]>[]
  'x-required-role': Role
}

/** The part of a route that says who may call it. Every route but the public ones has one. */
export function needs(role: Role): Access {
  return {
    middleware: [requireRole(role)],
    security: [{ secretKey: [] }, { token: [] }],
    'x-required-role': role,
  }
}

type ProblemAnswer = {
  description: string
  content: { 'application/problem+json': { schema: typeof problemSchema; example: unknown } }
}

/** The error answers of a route: what any may give, and these. */
export function problems(...codes: ErrorCode[]): Record<number, ProblemAnswer> {
  const answers: Record<number, ProblemAnswer> = {}
  for (const code of [...always, ...codes]) {
    const { status, title } = errorCodes[code]
    const before = answers[status]
    answers[status] = {
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
  return answers
}

/** A JSON body that must be there. */
export function jsonBody<Schema extends z.ZodType>(schema: Schema): {
  required: true
  content: { 'application/json': { schema: Schema } }
} {
  return { required: true, content: { 'application/json': { schema } } }
}

/** A JSON answer. */
export function jsonAnswer<Schema extends z.ZodType>(schema: Schema, description: string): {
  description: string
  content: { 'application/json': { schema: Schema } }
} {
  return { description, content: { 'application/json': { schema } } }
}

/** A 200 with JSON text whose numbers must not be parsed and written anew. */
export function rawJson(c: Context<ApiEnv>, json: string): never {
  // SAFETY: the text has the form that the route's schema tells of, and a Response is what Hono
  // makes of c.json() too.
  return c.body(json, 200, { 'content-type': 'application/json' }) as never
}
