/** What the audit trail is about, as the filter shows it. */
export const auditTypes = [
  ['', 'Everything'],
  ['OUTBOUND_MESSAGE', 'Messages'],
  ['PERSON', 'People'],
  ['DOSSIER', 'Dossiers'],
  ['CHANNEL', 'Channels'],
  ['TEMPLATE', 'Templates'],
  ['REPLY_WORD', 'Reply words'],
] as const

/** The page of what a row is about; null if it has none. */
export function entityPath(type: string, id: string): string | null {
  const word = encodeURIComponent(id)
  if (type === 'OUTBOUND_MESSAGE') return `/messages/${word}`
  if (type === 'DOSSIER') return `/dossiers/${word}`
  if (type === 'CHANNEL') return `/endpoints/${word}`
  if (type === 'TEMPLATE') return '/templates'
  return null
}
