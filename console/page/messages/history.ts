import type { Output } from '../../../package/client/operation_types.ts'
import { isNumber, plainNumber } from './phone.ts'

type Message = Output<'listMessages'>['data'][number]
type Inbound = Output<'listInboundMessages'>['data'][number]
type Consent = Output<'listConsents'>['data'][number]
type Change = Output<'listAuditEvents'>['data'][number]

/** Something that happened between the organisation and a person. */
export interface HistoryItem {
  key: string
  at: string
  /** The time by which it is ordered, if that is not its own. */
  after?: string
  tone: 'good' | 'bad' | 'warn' | 'info' | 'quiet'
  title: string
  /** Text of others, if there is some. */
  text: string | null
  /** The page of it. */
  to: string | null
}

const inRank = ['Created', 'Sent', 'Delivered', 'Read', 'Failed', 'Cancelled'] as const

/** The statuses of messages, each as it was reached. */
export function messageItems(messages: readonly Message[]): HistoryItem[] {
  return messages.flatMap((one) => {
    const name = one.templateCode === null ? 'Message' : `Message ${one.templateCode}`
    // WhatsApp tells whole seconds, so that what comes later may seem to be earlier.
    let after = ''
    const item = (
      status: (typeof inRank)[number],
      at: string | null,
      tone: HistoryItem['tone'],
      text: string | null = null,
    ): HistoryItem[] => {
      if (at === null) return []
      if (at > after) after = at
      const key = `${one.id} ${inRank.indexOf(status)}`
      const title = `${name}: ${status.toLowerCase()}`
      return [{ key, at, after, tone, title, text, to: `/messages/${one.id}` }]
    }
    const { text } = one.payloadJson
    return [
      ...item('Created', one.createdAt, 'info', typeof text === 'string' ? text : null),
      ...item('Sent', one.sentAt, 'info'),
      ...item('Delivered', one.deliveredAt, 'good'),
      ...item('Read', one.readAt, 'good'),
      ...one.status === 'FAILED' ? item('Failed', one.updatedAt, 'bad', one.errorMessage) : [],
      ...one.status === 'CANCELLED' ? item('Cancelled', one.updatedAt, 'quiet') : [],
    ]
  })
}

/** What people wrote. */
export function inboundItems(inbound: readonly Inbound[]): HistoryItem[] {
  return inbound.map((one) => ({
    key: `in ${one.id}`,
    at: one.sentAt,
    tone: 'info',
    title: one.erasedAt === null ? `Wrote a message (${one.type})` : 'Wrote a message, now erased',
    text: one.text,
    to: null,
  }))
}

/** Consent granted and withdrawn. */
export function consentItems(consents: readonly Consent[]): HistoryItem[] {
  return consents.map((one) => ({
    key: `consent ${one.purpose} ${one.channel} ${one.at}`,
    at: one.at,
    tone: one.granted ? 'good' : 'warn',
    title: `Consent ${one.granted ? 'granted' : 'withdrawn'}: ${one.purpose.toLowerCase()} by ` +
      `${one.channel.toLowerCase()}${one.inForce ? ', in force' : ''}`,
    text: one.evidence === null ? one.source : `${one.source}: ${one.evidence}`,
    to: null,
  }))
}

const changeTitles: Readonly<Record<string, string>> = {
  OPTED_OUT: 'Opted out',
  OPTED_IN: 'Opted in again',
  JOINED: 'Joined with another person',
  PARTED: 'Parted from another person',
}

/** Opt-outs and what else the audit trail has of a person. */
export function changeItems(changes: readonly Change[]): HistoryItem[] {
  return changes.map((one) => ({
    key: `audit ${one.id}`,
    at: one.at,
    tone: one.action === 'OPTED_OUT' ? 'warn' : 'quiet',
    title: changeTitles[one.action] ?? one.action.toLowerCase().replaceAll('_', ' '),
    text: one.details,
    to: null,
  }))
}

/** All items, the newest first. Of one moment, what comes later in a message is shown above. */
export function inOrder(items: readonly HistoryItem[]): HistoryItem[] {
  const timeOf = ({ at, after }: HistoryItem): string => after ?? at
  return [...items].sort((a, b) => timeOf(b).localeCompare(timeOf(a)) || b.key.localeCompare(a.key))
}

/** The phone numbers among the identifiers of people, as the list of messages takes them. */
export function numbersOf(recipients: readonly string[]): string[] {
  return [...new Set(recipients.map(plainNumber).filter(isNumber))]
}

/** So many numbers are read, because each is a request. */
export const numbersRead = 5
