import { z } from 'zod'
import type { ChannelAccess } from './access.ts'
import { fault, type Finding, sound, unanswered, unreadable, warn } from './finding.ts'
import type { ReadGraph } from './graph.ts'

const facts = z.object({
  id: z.string(),
  status: z.string().optional(),
  quality_rating: z.string().optional(),
})

const wrongId =
  "Compare phoneNumberId with the id below the number in Meta's dashboard, and give the " +
  'system user of the token the account of the number'

/** What to do about each status that is not CONNECTED. */
const remedies: Record<string, string> = {
  PENDING: 'Register the number with `POST /<phone number id>/register` of the Graph API',
  OFFLINE: 'Register the number again with `POST /<phone number id>/register` of the Graph API',
  DISCONNECTED:
    'Register the number again with `POST /<phone number id>/register` of the Graph API',
  UNVERIFIED: "Verify the number in Meta's dashboard, then register it",
  DELETED: 'Delete the channel, and create one for another number',
}

const atMeta = 'Open the number in WhatsApp Manager: Meta names the reason there, and how to appeal'

/** Whether the number exists, may be used with the token, and is connected. */
export async function checkPhoneNumber(
  read: ReadGraph,
  { phoneNumberId }: ChannelAccess,
): Promise<Finding> {
  const reply = await read(
    `${encodeURIComponent(phoneNumberId)}?fields=id,status,quality_rating`,
  )
  if (!reply.ok) return unanswered(reply, wrongId)
  const known = facts.safeParse(reply.json)
  if (!known.success) return unreadable
  if (known.data.id !== phoneNumberId) {
    return fault('The object with this id is not a phone number', wrongId)
  }
  const { status = 'CONNECTED', quality_rating } = known.data
  if (status !== 'CONNECTED') {
    const remedy = Object.hasOwn(remedies, status) ? remedies[status] ?? atMeta : atMeta
    return fault(`The number has the status ${status}`, remedy)
  }
  if (quality_rating === 'RED') {
    return warn(
      'The number is connected, but its quality is low (RED): Meta may restrict it',
      'Send fewer messages that people block or report, and ask for consent to each kind',
    )
  }
  return sound('The number is connected')
}
