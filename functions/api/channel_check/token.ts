import { z } from 'zod'
import type { ChannelAccess } from './access.ts'
import { fault, type Finding, newToken, sound, unanswered, unreadable, warn } from './finding.ts'
import type { ReadGraph } from './graph.ts'

const facts = z.object({
  data: z.object({
    is_valid: z.boolean(),
    app_id: z.union([z.string(), z.number()]).optional(),
    /** Seconds since 1970; 0: never. */
    expires_at: z.number().optional(),
    scopes: z.array(z.string()).default([]),
    granular_scopes: z.array(z.object({
      scope: z.string(),
      target_ids: z.array(z.string()).optional(),
    })).default([]),
    error: z.object({ message: z.string() }).optional(),
  }),
})

type Facts = z.infer<typeof facts>['data']

const needed = ['whatsapp_business_management', 'whatsapp_business_messaging'] as const

const soonS = 7 * 24 * 3_600

/** Whether the token is valid, of the app that signs the callbacks, and has the permissions. */
export async function checkToken(
  read: ReadGraph,
  access: ChannelAccess & { accessToken: string },
  wallNow: () => number,
): Promise<Finding> {
  const reply = await read(`debug_token?input_token=${encodeURIComponent(access.accessToken)}`)
  if (!reply.ok) return unanswered(reply, newToken)
  const known = facts.safeParse(reply.json)
  if (!known.success) return unreadable
  return judge(known.data.data, access, wallNow() / 1_000)
}

function judge(token: Facts, { appId, wabaId }: ChannelAccess, nowS: number): Finding {
  if (!token.is_valid) {
    return fault(
      `The token is not valid: ${token.error?.message ?? 'Meta gives no reason'}`,
      newToken,
    )
  }
  if (token.app_id !== undefined && String(token.app_id) !== appId) {
    return fault(
      'The token is of another app than the one of the channel, which signs its callbacks',
      'Create the token for the app of the channel, or create the channel with the app of the token',
    )
  }
  for (const scope of needed) {
    if (!token.scopes.includes(scope)) {
      return fault(`The token lacks the permission ${scope}`, newToken)
    }
    const targets = token.granular_scopes.find((one) => one.scope === scope)?.target_ids
    if (targets !== undefined && !targets.includes(wabaId)) {
      return fault(
        `The token has the permission ${scope} for other accounts only`,
        'Give the system user of the token the account of the channel, or correct its wabaId',
      )
    }
  }
  const { expires_at = 0 } = token
  if (expires_at > 0 && expires_at < nowS + soonS) {
    const at = new Date(expires_at * 1_000).toISOString()
    return warn(`The token expires at ${at}`, newToken)
  }
  return sound('The token is valid and has the permissions')
}
