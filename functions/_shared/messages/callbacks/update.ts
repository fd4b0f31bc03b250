import { createHash } from 'node:crypto'

/** What an update is about. `other` is kept and changes nothing. */
export type UpdateKind =
  | 'status'
  | 'message'
  | 'preference'
  | 'template'
  | 'account'
  | 'quality'
  | 'other'

/** A JSON object as it was received. */
export type JsonObject = Record<string, unknown>

/** One update of a callback, as outbox.receive_callbacks() takes it. */
export type Update = {
  /** The same for the same update, in whatever body WhatsApp repeats it. */
  key: string
  kind: UpdateKind
  /** The field of the change that it came under; empty for none. */
  field: string
  waba_id: string | null
  phone_number_id: string | null
  /** The digits of the number itself, by which some fields name it. */
  display: string | null
  wamid: string | null
  /** WhatsApp's own word: of a message its type, of a preference its value, else the event. */
  status: string | null
  /** biz_opaque_callback_data: what the send gave along. */
  callback_data: string | null
  /** Unix seconds. */
  at: number | null
  wa_id: string | null
  user_id: string | null
  /** Why it was not understood: kept, not applied. */
  problem: string | null
  /** The element as received, with its contact as `contact`. */
  data: JsonObject
}

/** Where an update was found: what it shares with the others of its change. */
export type Place = {
  field: string
  wabaId: string | null
  phoneNumberId: string | null
  display: string | null
  /** The entry's time. */
  time: number | null
}

/** What only the update itself says. */
export type Found = Partial<
  Pick<
    Update,
    'wamid' | 'status' | 'callback_data' | 'at' | 'wa_id' | 'user_id' | 'problem'
  >
>

/** Makes an update. `identity` tells it from all others of its kind. */
export function makeUpdate(
  kind: UpdateKind,
  place: Place,
  data: JsonObject,
  identity: readonly unknown[],
  found: Found = {},
): Update {
  return {
    key: createHash('sha256').update(JSON.stringify([kind, ...identity])).digest('hex'),
    kind,
    field: place.field,
    waba_id: place.wabaId,
    phone_number_id: place.phoneNumberId,
    display: place.display,
    wamid: null,
    status: null,
    callback_data: null,
    at: null,
    wa_id: null,
    user_id: null,
    problem: null,
    ...found,
    data,
  }
}

/**
 * An update whose place and content are all that tells it from others: its members may come in any
 * order.
 */
export function makeWhole(
  kind: UpdateKind,
  place: Place,
  data: JsonObject,
  found: Found = {},
): Update {
  const { field, wabaId, phoneNumberId, time } = place
  const identity = [field, wabaId, phoneNumberId, time, sorted(data)]
  return makeUpdate(kind, place, data, identity, found)
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([name, member]) => [
    name,
    sorted(member),
  ])
}
