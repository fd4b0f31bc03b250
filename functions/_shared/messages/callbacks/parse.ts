import { readMessages, readPreferences } from './conversation.ts'
import { asObject, digitsOf, elementsOf, objectOf, textOf, timeOf } from './fields.ts'
import { type JsonObject, makeWhole, type Place, type Update, type UpdateKind } from './update.ts'

/** WhatsApp sends up to 1,000 in a callback. */
export const maxUpdates = 5_000

/**
 * The updates of a callback's body, at least one, in order. An invalid part becomes an update with a
 * problem and does not affect the others. null for more than `maxUpdates`.
 */
export function parseUpdates(body: JsonObject): Update[] | null {
  const updates: Update[] = []
  for (const update of readEntries(body)) {
    if (updates.length === maxUpdates) return null
    updates.push(update)
  }
  return updates
}

const nowhere: Place = { field: '', wabaId: null, phoneNumberId: null, display: null, time: null }

function* readEntries(body: JsonObject): Generator<Update> {
  const object = body['object'] ?? 'whatsapp_business_account'
  const entries = elementsOf(body['entry'])
  for (const entry of entries) {
    if (object === 'whatsapp_business_account') yield* readChanges(entry)
    else {
      const problem = 'the object is not whatsapp_business_account'
      yield makeWhole('other', nowhere, asObject(entry), { problem })
    }
  }
  if (entries.length === 0) {
    yield makeWhole('other', nowhere, body, { problem: 'the body has no entry' })
  }
}

function* readChanges(element: unknown): Generator<Update> {
  const entry = objectOf(element)
  const place = { ...nowhere, wabaId: digitsOf(entry?.['id']), time: timeOf(entry?.['time']) }
  const changes = elementsOf(entry?.['changes'])
  for (const change of changes) yield* readChange(change, place)
  if (changes.length === 0) {
    yield makeWhole('other', place, asObject(element), { problem: 'the entry has no changes' })
  }
}

function* readChange(element: unknown, around: Place): Generator<Update> {
  const change = objectOf(element)
  const value = objectOf(change?.['value'])
  if (value === null) {
    const problem = 'the change has no value'
    yield makeWhole('other', around, asObject(element), { problem })
    return
  }
  const metadata = objectOf(value['metadata'])
  const place = {
    ...around,
    field: textOf(change?.['field'], 100) ?? impliedField(value),
    phoneNumberId: digitsOf(metadata?.['phone_number_id']),
    display: shownNumber(metadata?.['display_phone_number'] ?? value['display_phone_number']),
  }
  switch (place.field) {
    case 'messages':
      return yield* readMessages(value, place)
    case 'user_preferences':
      return yield* readPreferences(value, place)
    default:
      yield makeWhole(kindOf(place.field), place, value, {
        status: textOf(value['event'], 64),
        at: place.time,
      })
  }
}

/** Only without a field name, because other fields, such as calls, have statuses too. */
function impliedField(value: JsonObject): string {
  return 'statuses' in value || 'messages' in value ? 'messages' : ''
}

/** Numbers may have spaces and a plus. */
function shownNumber(value: unknown): string | null {
  return digitsOf(textOf(value, 64)?.replace(/[^0-9]/g, ''))
}

const accountFields = new Set([
  'account_alerts',
  'account_review_update',
  'account_update',
  'business_capability_update',
  'security',
])

function kindOf(field: string): UpdateKind {
  if (/^(message_)?template_/.test(field)) return 'template'
  if (field === 'phone_number_quality_update') return 'quality'
  return accountFields.has(field) ? 'account' : 'other'
}
