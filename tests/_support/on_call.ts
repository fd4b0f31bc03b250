import { z } from 'zod'

// The documented forms, strictly: a member that is not in the documents is an error.

/** https://developer.pagerduty.com/docs/send-alert-event */
const pagerDuty = z.union([
  z.strictObject({
    routing_key: z.string().length(32),
    event_action: z.literal('trigger'),
    dedup_key: z.string().min(1).max(255),
    payload: z.strictObject({
      summary: z.string().min(1).max(1024),
      source: z.string().min(1),
      severity: z.enum(['critical', 'error', 'warning', 'info']),
      timestamp: z.iso.datetime({ offset: true }).optional(),
      component: z.string().optional(),
      group: z.string().optional(),
      class: z.string().optional(),
      custom_details: z.record(z.string(), z.unknown()).optional(),
    }),
    images: z.array(z.unknown()).optional(),
    links: z.array(z.strictObject({ href: z.url(), text: z.string().optional() })).optional(),
    client: z.string().optional(),
    client_url: z.string().optional(),
  }),
  z.looseObject({
    routing_key: z.string().length(32),
    event_action: z.literal('resolve'),
    dedup_key: z.string().min(1).max(255),
  }),
])

/** The Event API of New Relic: flat objects, of one type each. */
const newRelic = z.array(
  z.object({
    eventType: z.string().regex(/^[A-Za-z0-9_:]{1,255}$/),
    timestamp: z.number().int().min(1e12),
  }).catchall(z.union([z.string().max(4096), z.number(), z.boolean()])),
).min(1)

/** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
const slack = z.looseObject({
  text: z.string().optional(),
  attachments: z.array(z.looseObject({ text: z.string() })).optional(),
})

/** A stand-in for the services that call people. */
export interface OnCall {
  readonly url: string
  readonly pagerDuty: z.infer<typeof pagerDuty>[]
  readonly newRelic: z.infer<typeof newRelic>
  readonly slack: z.infer<typeof slack>[]
  /** What was not as documented. */
  readonly refused: string[]
  stop(): Promise<void>
}

/** Takes what is of the documented form, and answers as the services do. */
export function startOnCall(): OnCall {
  const taken: Pick<OnCall, 'pagerDuty' | 'newRelic' | 'slack' | 'refused'> = {
    pagerDuty: [],
    newRelic: [],
    slack: [],
    refused: [],
  }

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const body: unknown = await request.json()
    try {
      if (pathname === '/v2/enqueue') {
        taken.pagerDuty.push(pagerDuty.parse(body))
        return Response.json({ status: 'success', message: 'Event processed' }, { status: 202 })
      }
      if (pathname === '/v1/accounts/1234/events') {
        if (request.headers.get('api-key') !== 'license') return new Response('', { status: 403 })
        taken.newRelic.push(...newRelic.parse(body))
        return Response.json({ success: true })
      }
      taken.slack.push(slack.parse(body))
      return new Response('ok')
    } catch (error) {
      taken.refused.push(`${pathname}: ${error}: ${JSON.stringify(body)}`)
      return Response.json({ status: 'invalid event' }, { status: 400 })
    }
  }

  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, answer)
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    ...taken,
    stop: () => server.shutdown(),
  }
}
