import { createRoute, OpenAPIHono, z } from '../../../functions/api/zod_openapi.ts'
import { expect } from '@std/expect'
import type { ApiEnv } from '../../../functions/api/context.ts'
import {
  bodyLimit,
  headLimit,
  requestLimits,
  tokenBodies,
} from '../../../functions/api/middleware/limits.ts'
import { createBodyRoom } from '../../../functions/_shared/http/body_room.ts'
import { withPrincipal } from './_principal.ts'
import { handleError } from '../../../functions/api/middleware/problem.ts'
import { jsonBody, jsonResponse } from '../../../functions/api/routes/route.ts'

const said = z.strictObject({ type: z.string() })
const route = createRoute({
  method: 'post',
  path: '/',
  request: { body: jsonBody(said) },
  responses: { 200: jsonResponse(said, 'What was said') },
})

async function post(
  contentType: string,
  sent = '{"type": "a"}',
  headers: Record<string, string> = {},
): Promise<{ status: number; body: unknown }> {
  const app = new OpenAPIHono<ApiEnv>()
  app.onError(handleError(() => {}))
  app.use(headLimit(requestLimits))
  app.use(withPrincipal())
  app.use(bodyLimit(requestLimits, createBodyRoom(tokenBodies)))
  app.openapi(route, (c) => c.json({ type: c.req.valid('json').type }, 200))
  const answer = await app.request('/', {
    method: 'POST',
    headers: { 'content-type': contentType, ...headers },
    body: sent,
  })
  return { status: answer.status, body: await answer.json() }
}

// The validator behind the limits has a form of its own for media types, narrower than RFC 9110's.
for (
  const type of [
    'application/json',
    'APPLICATION/JSON',
    'application/json;',
    'application/json;;;',
    'application/json ;charset=utf-8',
    'application/json; charset = utf-8',
    'application/json; charset="UTF-8"',
    'application/json; a="b;c"',
    'application/vnd.x2+json',
  ]
) {
  Deno.test(`bodyLimit() takes JSON when it is said to be ${type}`, async () => {
    expect(await post(type)).toEqual({ status: 200, body: { type: 'a' } })
  })
}

for (
  const type of [
    'text/plain',
    'application/jsonx',
    'application/json,application/json',
    'application/json; charset=utf-16',
    'application/json;charset="iso-8859-1"',
    'application/json; charset=',
  ]
) {
  Deno.test(`bodyLimit() answers 415 when the body is said to be ${type}`, async () => {
    expect(await post(type)).toMatchObject({
      status: 415,
      body: { code: 'unsupported_media_type', field: 'content-type' },
    })
  })
}

Deno.test('headLimit() takes headers up to their bound and answers 431 beyond it', async () => {
  const room = requestLimits.headerBytes - 'content-type'.length - 'application/json'.length - 1
  expect(await post('application/json', undefined, { x: 'y'.repeat(room) }))
    .toMatchObject({ status: 200 })
  expect(await post('application/json', undefined, { x: 'y'.repeat(room + 1) }))
    .toMatchObject({ status: 431, body: { code: 'headers_too_large' } })
})

Deno.test('bodyLimit() takes a body up to its bound and depth, and no other', async () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
  const deep = (depth: number): string => `{"type": "a", "more": ${nested(depth - 1)}}`
  // As deep as it may be, so that only the schema has something to say.
  const { body } = await post('application/json', deep(requestLimits.depth))
  expect(JSON.stringify(body)).toContain('Unrecognized key')
  expect(await post('application/json', deep(requestLimits.depth + 1))).toMatchObject({
    status: 400,
    body: { detail: `The body is nested deeper than ${requestLimits.depth} levels` },
  })
  const filled = (bytes: number): string => JSON.stringify({ type: 'a'.repeat(bytes - 11) })
  expect(await post('application/json', filled(requestLimits.bodyBytes)))
    .toMatchObject({ status: 200 })
  expect(await post('application/json', filled(requestLimits.bodyBytes + 1)))
    .toMatchObject({ status: 413 })
})
