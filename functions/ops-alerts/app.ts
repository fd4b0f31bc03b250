import { type Context, Hono } from 'hono'
import { Webhook } from 'standardwebhooks'
import { bearsToken } from '../_shared/http/bearer.ts'
import { messageOf } from '../_shared/base/errors.ts'
import type { Log } from '../_shared/base/log.ts'
import { notFound } from '../_shared/http/not_found.ts'
import { responseHeaders } from '../_shared/http/response_headers.ts'
import { problemResponse } from '../_shared/http/problem.ts'
import { createBodyRoom, unverifiedBodies } from '../_shared/http/body_room.ts'
import { readText } from '../_shared/http/read_text.ts'
import { hasWebhookHead, leaveBody } from '../_shared/http/webhook_head.ts'
import type { Alert } from './alert.ts'
import { alertsOfAlertmanager } from './from_alertmanager.ts'
import { alertOfEvent } from './from_event.ts'

export type AlertsDeps = {
  /** The signing secret of the endpoint for operational events; empty: not set up. */
  secret: string
  /** The bearer tokens of Alertmanager; an empty list: its requests are refused. */
  tokens: readonly string[]
  /** Sends alerts of operational events; rejects if a service did not accept one. */
  send(alerts: Alert[]): Promise<void>
  /** Sends alerts of Alertmanager, but not to PagerDuty, which Alertmanager supports itself. */
  sendForAlertmanager(alerts: Alert[]): Promise<void>
  log: Log
}

const mostBytes = 2 ** 20

/**
 * Sends alerts to the services of operators on call. `POST /ops-alerts/events` receives Outhook's
 * operational events, `POST /ops-alerts/alertmanager` the webhooks of Alertmanager. 204 after all
 * services have accepted them; 502 if one has not, so that the sender retries.
 */
export function createApp({ secret, tokens, send, sendForAlertmanager, log }: AlertsDeps): Hono {
  const root = new Hono()
  root.use(responseHeaders)
  const app = root.basePath('/ops-alerts')
  const bodies = createBodyRoom(unverifiedBodies)
  const webhook = secret === '' ? null : new Webhook(secret)

  app.post('/events', async (c) => {
    const { raw } = c.req
    if (webhook === null) {
      return leaveBody(raw, refusal(503, 'not_configured', 'OUTHOOK_ALERTS_SECRET is not set'))
    }
    const unsigned = refusal(401, 'invalid_signature', 'Not a valid signature')
    if (!hasWebhookHead(raw.headers)) return leaveBody(raw, unsigned)
    const body = await readText(raw, mostBytes, { room: bodies })
    if (body instanceof Response) return body
    try {
      webhook.verify(body, c.req.header())
    } catch {
      return unsigned
    }
    return await forward(c, send, () => {
      const alert = alertOfEvent(body)
      return alert === null ? [] : [alert]
    })
  })

  app.post('/alertmanager', async (c) => {
    if (!bearsToken(c.req.header('authorization'), tokens)) {
      return leaveBody(
        c.req.raw,
        refusal(401, 'unauthorized', 'Send one of OUTHOOK_ALERTS_TOKEN as bearer token'),
      )
    }
    const body = await readText(c.req.raw, mostBytes)
    if (body instanceof Response) return body
    return await forward(c, sendForAlertmanager, () => alertsOfAlertmanager(body))
  })

  async function forward(
    c: Context,
    sendTo: AlertsDeps['send'],
    read: () => Alert[],
  ): Promise<Response> {
    let alerts: Alert[]
    try {
      alerts = read()
    } catch (error) {
      log('warn', 'invalid alert', { error: messageOf(error).slice(0, 500) })
      return refusal(422, 'not_understood', 'The body is not valid')
    }
    try {
      await sendTo(alerts)
      return c.body(null, 204)
    } catch (error) {
      log('error', 'alert not sent', { error: messageOf(error) })
      return refusal(
        502,
        'not_told',
        'A service did not accept the alert; see the log of this function',
      )
    }
  }

  app.notFound(notFound(app))
  return app
}

function refusal(status: number, code: string, detail: string): Response {
  return problemResponse({ status, code, title: code.replaceAll('_', ' '), detail })
}
