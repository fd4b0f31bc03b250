import { deliveryPath } from '../events/delivery_path.ts'

/** What the audit trail is about, as the filter shows it. */
export const auditTypes = [
  ['', 'Everything'],
  ['ENDPOINT', 'Endpoints'],
  ['DELIVERY', 'Deliveries'],
  ['REPLAY_JOB', 'Replay jobs'],
  ['PORTAL_TOKEN', 'Portal tokens'],
  ['EVENT_TYPE', 'Event types'],
  ['EVENT_CATALOGUE', 'Catalogue'],
  ['SETTING', 'Settings'],
  ['EVENT', 'Events'],
  ['ORGANISATION', 'Moves'],
  ['OUTBOUND_MESSAGE', 'Messages'],
  ['PERSON', 'People'],
  ['DOSSIER', 'Dossiers'],
  ['CHANNEL', 'Channels'],
  ['TEMPLATE', 'Templates'],
  ['REPLY_WORD', 'Reply words'],
] as const

/** The actions of the filter. */
export const auditActions = [
  ['', 'Every action'],
  ['CREATED', 'Created'],
  ['CHANGED', 'Changed'],
  ['PAUSED', 'Paused'],
  ['RESUMED', 'Resumed'],
  ['DISABLED', 'Disabled'],
  ['DELETED', 'Deleted'],
  ['SECRET_SHOWN', 'Secret shown'],
  ['SECRET_ROTATED', 'Secret rotated'],
  ['SECRET_EXPIRED', 'Secret expired'],
  ['RETRIED', 'Retried'],
  ['REPLAYED', 'Replayed'],
  ['CANCELLED', 'Cancelled'],
  ['DISCARDED', 'Discarded'],
  ['REVOKED', 'Revoked'],
  ['ROUTED_AGAIN', 'Routed again'],
  ['MOVED', 'Moved'],
  ['BLOCKED_BY_POLICY', 'Message refused'],
] as const

/** The page of what a row is about; null if it has none. */
export function entityPath(type: string, id: string): string | null {
  const word = encodeURIComponent(id)
  if (type === 'EVENT') return `/events/${word}`
  if (type === 'ENDPOINT') return `/endpoints/${word}`
  if (type === 'DELIVERY') return deliveryPath(id.split('.')[0] ?? '', id)
  if (type === 'REPLAY_JOB') return `/replays/${word}`
  if (type === 'EVENT_TYPE') return `/event-types/${word}`
  if (type === 'SETTING') return '/settings'
  if (type === 'OUTBOUND_MESSAGE') return `/messages/${word}`
  if (type === 'DOSSIER') return `/dossiers/${word}`
  if (type === 'CHANNEL') return `/endpoints/${word}`
  if (type === 'TEMPLATE') return '/templates'
  return null
}
