import type { Output } from '../../../package/client/operation_types.ts'

export type TypeChange = Output<'listEventTypeChanges'>['data'][number]

/** What a change of an event type means for a receiver, such as `Changed: added id, the description`. */
export function changeWords(change: Omit<TypeChange, 'id' | 'type' | 'actor' | 'at'>): string {
  const { action, description, schema, otherRules, added, removed, changed, more } = change
  if (action === 'DELETED') return 'Deleted from the catalogue'
  if (action === 'CREATED') return 'Added to the catalogue'
  const members = [
    ...added.length === 0 ? [] : [`added ${added.join(', ')}`],
    ...removed.length === 0 ? [] : [`removed ${removed.join(', ')}`],
    ...changed.length === 0 ? [] : [`changed ${changed.join(', ')}`],
    ...more === 0 ? [] : [`and ${more} more ${more === 1 ? 'member' : 'members'}`],
  ]
  const parts = [
    ...members,
    ...otherRules || schema && members.length === 0 ? ['other rules of the schema'] : [],
    ...description ? ['the description'] : [],
  ]
  return `Changed: ${parts.join('; ')}`
}
