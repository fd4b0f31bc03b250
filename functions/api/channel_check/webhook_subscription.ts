import { z } from 'zod'
import type { ChannelAccess } from './access.ts'
import { fault, type Finding, sound, unanswered, unreadable } from './finding.ts'
import type { ReadGraph } from './graph.ts'

const facts = z.object({
  data: z.array(z.object({
    whatsapp_business_api_data: z.object({ id: z.union([z.string(), z.number()]) }),
    override_callback_uri: z.string().optional(),
  })),
})

const wrongId =
  "Compare wabaId with the id of the account in Meta's business settings, and give the " +
  'system user of the token this account'

/** Whether the account sends its callbacks to the app of the channel, and to Outhook. */
export async function checkWebhookSubscription(
  read: ReadGraph,
  { wabaId, appId, appKey }: ChannelAccess,
): Promise<Finding> {
  const reply = await read(`${encodeURIComponent(wabaId)}/subscribed_apps`)
  if (!reply.ok) return unanswered(reply, wrongId)
  const known = facts.safeParse(reply.json)
  if (!known.success) return unreadable
  const subscription = known.data.data
    .find((one) => String(one.whatsapp_business_api_data.id) === appId)
  if (subscription === undefined) {
    return fault(
      'The account is not subscribed to the app of the channel: no status and no inbound message ' +
        'can arrive',
      'Subscribe it with `POST /<account id>/subscribed_apps` of the Graph API and the token of ' +
        'the channel',
    )
  }
  const { override_callback_uri: override } = subscription
  if (override !== undefined && override !== '' && !override.includes(`/${appKey}`)) {
    return fault(
      'The account sends the callbacks to another address than the one of the app (an override)',
      'Set the callback address with the app key as the override, or remove the override with ' +
        '`POST /<account id>/subscribed_apps` without a body',
    )
  }
  return sound('The account is subscribed to the app of the channel')
}
