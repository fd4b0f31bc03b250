import type { ChannelAccess } from './access.ts'
import { fault, type Finding, newToken } from './finding.ts'
import { type GraphDeps, graphReader } from './graph.ts'
import { type CheckName, checkNames } from './names.ts'
import { checkPhoneNumber } from './phone_number.ts'
import { checkTemplates } from './templates.ts'
import { checkToken } from './token.ts'
import { checkWebhookSubscription } from './webhook_subscription.ts'

/** What was found, in the order of `checkNames`. */
export type ChannelFindings = ({ name: CheckName } & Finding)[]

/** Checks what a channel needs at Meta; rejects only on a bug. */
export type CheckChannel = (access: ChannelAccess) => Promise<ChannelFindings>

/** Asks the Graph API about the four parts at once. */
export function channelChecker(deps: GraphDeps & { wallNow(): number }): CheckChannel {
  return async function checkChannel(access): Promise<ChannelFindings> {
    const { accessToken } = access
    if (accessToken === null) {
      const unread = fault('The token cannot be read from Vault', newToken)
      return checkNames.map((name) => ({ name, ...name === 'token' ? unread : untested }))
    }
    const owned = { ...access, accessToken }
    const read = graphReader(deps, owned)
    const findings = await Promise.all([
      checkToken(read, owned, deps.wallNow),
      checkPhoneNumber(read, access),
      checkWebhookSubscription(read, access),
      checkTemplates(read, access),
    ])
    return findings.map((finding, at) => ({ name: checkNames[at] ?? 'token', ...finding }))
  }
}

const untested: Finding = {
  result: 'unknown',
  code: null,
  detail: 'Not checked, because there is no token',
  remedy: 'Set the token first',
}
