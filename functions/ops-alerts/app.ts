import { type Context, Hono } from 'hono'
import { Webhook } from 'standardwebhooks'
import { bearsToken } from '../_shared/http/bearer.ts'
import { messageOf } from '../_shared/base/errors.ts'
import type { Log } from '../_shared/base/log.ts'
import { problemResponse } from '../_shared/http/problem.ts'
import { readText } from '../_shared/http/read_text.ts'
import { hasWebhookHead, leaveBody } from '../_shared/http/webhook_head.ts'
import type { Alert } from './alert.ts'
import { alertsOfAlertmanager } from './from_alertmanager.ts'
import { alertOfEvent } from './from_event.ts'

export type AlertsDeps = {
  /** The signing secret of the endpoint that receives operational events; empty: none does. */
  secret: string
  /** What Alertmanager bears; none: it is not listened to. */
  tokens: readonly string[]
  /** Tells of operational events; rejects when somebody could not be told. */
  tell(alerts: Alert[]): Promise<void>
  /** Tells whom Alertmanager cannot tell by itself: it knows PagerDuty. */
  tellForAlertmanager(alerts: Alert[]): Promise<void>
  log: Log
}

const mostBytes = 2 ** 20

/**
 * Tells those on call: `POST /ops-alerts/events` takes Outhook's own operational events,
 * `POST /ops-alerts/alertmanager` what Alertmanager posts. 204 once all have been told; 502 when
 * somebody has not, so that it comes again.
 */
export function createApp({ secret, tokens, tell, tellForAlertmanager, log }: AlertsDeps): Hono {
  const app = new Hono().basePath('/ops-alerts')
  const webhook = secret === '' ? null : new Webhook(secret)

  app.post('/events', async (c) => {
    const { raw } = c.req
    if (webhook === null) {
      return leaveBody(raw, refusal(503, 'not_configured', 'OUTHOOK_ALERTS_SECRET is not set'))
    }
    const unsigned = refusal(401, 'invalid_signature', 'Not a valid signature')
    if (!hasWebhookHead(raw.headers)) return leaveBody(raw, unsigned)
    const body = await readText(raw, mostBytes)
    if (body instanceof Response) return body
    try {
      webhook.verify(body, c.req.header())
    } catch {
      return unsigned
    }
    return await passOn(c, tell, () => {
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
    return await passOn(c, tellForAlertmanager, () => alertsOfAlertmanager(body))
  })

  async function passOn(
    c: Context,
    tellOf: AlertsDeps['tell'],
    read: () => Alert[],
  ): Promise<Response> {
    let alerts: Alert[]
    try {
      alerts = read()
    } catch (error) {
      log('warn', 'alert not understood', { error: messageOf(error).slice(0, 500) })
      return refusal(422, 'not_understood', 'The body is of another form')
    }
    try {
      await tellOf(alerts)
      return c.body(null, 204)
    } catch (error) {
      log('error', 'alert not passed on', { error: messageOf(error) })
      return refusal(502, 'not_told', 'Somebody could not be told; the log has the reason')
    }
  }

  app.notFound((c) =>
    refusal(404, 'not_found', `This function has no ${c.req.method} ${c.req.path}`)
  )
  return app
}

function refusal(status: number, code: string, detail: string): Response {
  return problemResponse({ status, code, title: code.replaceAll('_', ' '), detail })
}
