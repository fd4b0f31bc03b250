import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { expect } from '@std/expect'
import type { ApiEnv } from '../../../functions/api/context.ts'
import { bodyLimited, requestLimits } from '../../../functions/api/middleware/limits.ts'
import { answerError } from '../../../functions/api/middleware/problem.ts'
import { jsonAnswer, jsonBody } from '../../../functions/api/routes/route.ts'

const said = z.strictObject({ type: z.string() })
const route = createRoute({
  method: 'post',
  path: '/',
  request: { body: jsonBody(said) },
  responses: { 200: jsonAnswer(said, 'What was said') },
})

async function post(contentType: string): Promise<{ status: number; body: unknown }> {
  const app = new OpenAPIHono<ApiEnv>()
  app.onError(answerError(() => {}))
  app.use(bodyLimited(requestLimits))
  app.openapi(route, (c) => c.json({ type: c.req.valid('json').type }, 200))
  const answer = await app.request('/', {
    method: 'POST',
    headers: { 'content-type': contentType },
    body: '{"type": "a"}',
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
    'application/json; a="b;c"',
    'application/vnd.x2+json',
  ]
) {
  Deno.test(`bodyLimited() takes JSON when it is said to be ${type}`, async () => {
    expect(await post(type)).toEqual({ status: 200, body: { type: 'a' } })
  })
}

for (const type of ['text/plain', 'application/jsonx', 'application/json,application/json']) {
  Deno.test(`bodyLimited() answers 415 when the body is said to be ${type}`, async () => {
    expect(await post(type)).toMatchObject({
      status: 415,
      body: { code: 'unsupported_media_type', field: 'content-type' },
    })
  })
}
