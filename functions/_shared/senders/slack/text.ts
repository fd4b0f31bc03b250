import type { EventRow } from '../../contract/contract.ts'

/** Longer messages are hard to read; Slack itself cuts at 40,000 characters. */
const longestData = 2_500
const longestError = 500

type Fields = Record<string, unknown>

/** The texts of operational events; sql/engine/result/announce.sql writes their members. */
const operationalTexts: ReadonlyMap<string, (fields: Fields) => string> = new Map([
  ['outhook.delivery.dead_lettered', deadLetter],
  [
    'outhook.dead_letters.cleared',
    (f: Fields) => `:white_check_mark: *Dead letters*: none of ${endpointOf(f)} waits any more.`,
  ],
  [
    'outhook.breaker.opened',
    (f: Fields) =>
      `:warning: *Breaker open*: ${endpointOf(f)} keeps failing. Its deliveries are held ` +
      'and it is probed until it responds.',
  ],
  [
    'outhook.breaker.closed',
    (f: Fields) => `:white_check_mark: *Breaker closed*: ${endpointOf(f)} responds again.`,
  ],
  [
    'outhook.endpoint.disabled',
    (f: Fields) =>
      `:no_entry: *Endpoint disabled*: ${endpointOf(f)} (${
        textOf(f.reason)
      }). Its deliveries are held ` +
      `until ${code(`select outbox.resume_endpoint('${plain(f.endpointId)}')`)}.`,
  ],
  [
    'outhook.endpoint.held',
    (f: Fields) => `:no_entry: *Endpoint held*: ${endpointOf(f)}. ${textOf(f.reason)}.`,
  ],
  [
    'outhook.endpoint.released',
    (f: Fields) => `:white_check_mark: *Endpoint resumed*: ${endpointOf(f)}.`,
  ],
  [
    'outhook.channel.held',
    (f: Fields) =>
      `:no_entry: *WhatsApp channel held*: ${code(f.endpointId)} of ${code(f.orgId)}, ` +
      `${textOf(f.reason)}. Its messages wait until ` +
      `${code(`select outbox.resume_endpoint('${plain(f.endpointId)}')`)}.`,
  ],
  [
    'outhook.channel.resumed',
    (f: Fields) =>
      `:white_check_mark: *WhatsApp channel resumed*: ${code(f.endpointId)} of ${code(f.orgId)}.`,
  ],
  [
    'outhook.template.held',
    (f: Fields) =>
      `:no_entry: *WhatsApp template held*: ${templateOf(f)}, ${
        textOf(f.reason)
      }. Its messages wait ` +
      'until WhatsApp approves it again.',
  ],
  [
    'outhook.template.resumed',
    (f: Fields) => `:white_check_mark: *WhatsApp template resumed*: ${templateOf(f)}.`,
  ],
  [
    'outhook.whatsapp.notice',
    (f: Fields) =>
      `:information_source: *Notice of WhatsApp*: ${textOf(f.reason)}. It is about the channel ` +
      `${code(f.endpointId)} of ${code(f.orgId)}.`,
  ],
  [
    'outhook.database.changed',
    (f: Fields) =>
      `:information_source: *Another database*: the project ${code(f.project)} continues in ` +
      `${code(f.database)}, before it was ${
        code(f.wasDatabase)
      }. This is normal after an upgrade, a ` +
      'switch to a standby server or a restore.',
  ],
  [
    'outhook.consumer.dead_lettered',
    (f: Fields) =>
      `:x: *Dead letter of a consumer*: ${code(f.consumer)} gave up on a message of ${
        code(f.topic)
      } ` +
      `after ${textOf(f.retryCount)} attempts: ${textOf(f.error)}. It is in ${
        code(f.dlqTopic)
      }, message ` +
      `${code(f.messageId)}.`,
  ],
])

/**
 * The text of an event in Slack's markup: a sentence for operational events, the type and the data for
 * others. It is escaped, so that it contains no mention (`<!channel>`) and no link.
 */
export function slackText({ type, correlation_id, body }: EventRow): string {
  const write = operationalTexts.get(type)
  const fields = write === undefined ? null : readFields(body)
  if (write !== undefined && fields !== null) return write(fields)
  return `*${escape(type)}* (${code(correlation_id)})\n${block(body)}`
}

function deadLetter(fields: Fields): string {
  const { eventType, orgId, retryCount, error, eventId, endpointId, why } = fields
  const again = `select outbox.replay('${plain(eventId)}', '${plain(endpointId)}')`
  return `:x: *Dead letter*: ${code(eventType)} of ${code(orgId)}, ${textOf(why)} after ` +
    `${textOf(retryCount)} failed attempts: ${textOf(error)}\nTo send it again: ${code(again)}`
}

function endpointOf({ url, endpointId, orgId }: Fields): string {
  return `${code(url)} of ${code(orgId)} (${code(endpointId)})`
}

function templateOf({ templateCode, orgId, name, language }: Fields): string {
  return `${code(templateCode)} of ${code(orgId)} (${textOf(name)}, ${textOf(language)})`
}

function readFields(body: string): Fields | null {
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    return { ...value }
  } catch {
    return null
  }
}

function plain(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '?'
}

function textOf(value: unknown): string {
  return escape(cut(plain(value), longestError))
}

function code(value: unknown): string {
  return `\`${textOf(value).replaceAll('`', "'")}\``
}

function block(text: string): string {
  return `\`\`\`${escape(cut(text, longestData)).replaceAll('```', "'''")}\`\`\``
}

function cut(text: string, most: number): string {
  // Does not cut a surrogate pair.
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…`
}

/** https://docs.slack.dev/messaging/formatting-message-text#escaping */
function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
