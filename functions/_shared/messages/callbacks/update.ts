import { createHash } from 'node:crypto'

/** The subject of an update. `other` is stored without effect. */
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
  /** The same for each repeat of the update, in any body. */
  key: string
  kind: UpdateKind
  /** The field of its change; empty: none. */
  field: string
  waba_id: string | null
  phone_number_id: string | null
  /** The digits of the displayed number, which some fields have instead of an id. */
  display: string | null
  wamid: string | null
  /** A message's type, a preference's value, otherwise the event, in WhatsApp's words. */
  status: string | null
  /** biz_opaque_callback_data, set by the send. */
  callback_data: string | null
  /** Unix seconds. */
  at: number | null
  wa_id: string | null
  user_id: string | null
  /** Why it is invalid: stored, not applied; null: valid. */
  problem: string | null
  /** The element as received, with its contact as `contact`. */
  data: JsonObject
}

/** What an update shares with the others of its change. */
export type Place = {
  field: string
  wabaId: string | null
  phoneNumberId: string | null
  display: string | null
  /** The entry's time. */
  time: number | null
}

/** What comes from the update itself. */
export type Found = Partial<
  Pick<
    Update,
    'wamid' | 'status' | 'callback_data' | 'at' | 'wa_id' | 'user_id' | 'problem'
  >
>

/** Creates an update. `identity` is unique among the updates of its kind. */
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

/** Creates an update identified by its place and content, regardless of the order of members. */
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
