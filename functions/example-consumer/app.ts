import { Hono } from 'hono'
import { Webhook } from 'standardwebhooks'
import { messageOf } from '../_shared/base/errors.ts'
import type { Log } from '../_shared/base/log.ts'
import { notFound } from '../_shared/http/not_found.ts'
import { problemResponse } from '../_shared/http/problem.ts'
import { responseHeaders } from '../_shared/http/response_headers.ts'
import { createBodyRoom, unverifiedBodies } from '../_shared/http/body_room.ts'
import { readText } from '../_shared/http/read_text.ts'
import { hasWebhookHead, leaveBody } from '../_shared/http/webhook_head.ts'
import { InboxMissing, type Receive } from './database.ts'

export type AppDeps = {
  /** The endpoint's signing secret; empty: not set up yet. */
  secret: string
  receive: Receive
  log: Log
}

/** The largest body that Outhook sends, with its envelope. */
const mostBytes = 2 ** 20 + 4096

/**
 * A receiver of webhooks: `POST /example-consumer`. It verifies the signature (401), handles each event
 * once, and responds 204, also to a repeat; 500 if the handler failed, so that Outhook retries;
 * 501 if the module inbox is not installed.
 */
export function createApp({ secret, receive, log }: AppDeps): Hono {
  const root = new Hono()
  root.use(responseHeaders)
  const app = root.basePath('/example-consumer')
  const bodies = createBodyRoom(unverifiedBodies)
  const webhook = secret === '' ? null : new Webhook(secret)

  app.post('/', async (c) => {
    if (webhook === null) {
      return problemResponse({
        status: 503,
        code: 'not_configured',
        title: 'Not configured',
        detail: "EXAMPLE_CONSUMER_SECRET is not set: set it to the endpoint's signing secret",
      })
    }
    const unsigned = problemResponse({
      status: 401,
      code: 'invalid_signature',
      title: 'Not a valid signature',
      detail: 'webhook-signature is missing, too old, or signed with another secret',
    })
    if (!hasWebhookHead(c.req.raw.headers)) return leaveBody(c.req.raw, unsigned)
    const body = await readText(c.req.raw, mostBytes, { room: bodies })
    if (body instanceof Response) return body
    const eventId = c.req.header('webhook-id') ?? ''
    try {
      webhook.verify(body, c.req.header())
    } catch {
      return unsigned
    }
    try {
      const isNew = await receive(eventId, body)
      log('info', isNew ? 'event processed' : 'duplicate event', { event: eventId })
      return c.body(null, 204)
    } catch (error) {
      log('error', 'event not processed', { event: eventId, error: messageOf(error) })
      if (error instanceof InboxMissing) {
        return problemResponse({
          status: 501,
          code: 'module_missing',
          title: 'Module not installed',
          detail: error.message,
        })
      }
      return problemResponse({
        status: 500,
        code: 'internal',
        title: 'Internal error',
        detail: 'The event could not be processed; see the log of this function',
      })
    }
  })

  app.notFound(notFound(app))
  return app
}
