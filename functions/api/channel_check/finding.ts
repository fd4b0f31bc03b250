import type { GraphReply } from './graph.ts'

/** `warning`: messages are sent, but somebody should act. `unknown`: it could not be checked. */
export type Result = 'ok' | 'warning' | 'failed' | 'unknown'

/** What one part of the check found. */
export type Finding = {
  result: Result
  /** The error code of the Graph API; null if it gave none. */
  code: string | null
  detail: string
  /** Null: nothing needs to be done. */
  remedy: string | null
}

export function sound(detail: string): Finding {
  return { result: 'ok', code: null, detail, remedy: null }
}

export function warn(detail: string, remedy: string): Finding {
  return { result: 'warning', code: null, detail, remedy }
}

export function fault(detail: string, remedy: string): Finding {
  return { result: 'failed', code: null, detail, remedy }
}

/** A reply in another form than expected says nothing about the channel. */
export const unreadable: Finding = {
  result: 'unknown',
  code: null,
  detail: 'The response of the Graph API does not have the expected form',
  remedy: 'Repeat the check. If the result stays, compare the settings whatsapp.graph_url and ' +
    "whatsapp.graph_version with Meta's documentation",
}

/** The remedy of an invalid token. */
export const newToken =
  "Create a token of a system user in Meta's business settings, and set it with " +
  '`PUT /channels/{channelId}/access-token`; then resume the channel if it is held'

const permissions = 'Give the system user of the token this account, with the permissions ' +
  'whatsapp_business_management and whatsapp_business_messaging, and create a new token'

/** A reply without the expected facts: refused by the Graph API, or none. `missing` is the remedy of 100. */
export function unanswered(reply: Exclude<GraphReply, { ok: true }>, missing: string): Finding {
  const { code, problem } = reply
  if (code === null) {
    return {
      result: 'unknown',
      code,
      detail: problem,
      remedy: 'Repeat the check. If the result stays, compare the setting whatsapp.graph_url and ' +
        'the settings of egress with the address of the Graph API',
    }
  }
  const detail = `The Graph API refuses with error ${code}: ${problem}`
  const number = Number(code)
  if (number === 190 || number === 102 || number === 104 || number === 0) {
    return { result: 'failed', code, detail, remedy: newToken }
  }
  if (number === 3 || number === 10 || number >= 200 && number <= 299) {
    return { result: 'failed', code, detail, remedy: permissions }
  }
  if (number === 100 || number === 33) return { result: 'failed', code, detail, remedy: missing }
  return { result: 'unknown', code, detail, remedy: 'Repeat the check in a few minutes' }
}
