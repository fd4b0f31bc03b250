import { completePerson, type Contacts, contactsOf, findContact, type Person } from './contacts.ts'
import { asObject, digitsOf, elementsOf, objectOf, textOf, timeOf } from './fields.ts'
import {
  type Found,
  type JsonObject,
  makeUpdate,
  makeWhole,
  type Place,
  type Update,
} from './update.ts'

// Statuses, messages and preferences. The format of a message id (wamid) is not documented; 512 characters
// fit into an index.

const maxId = 512

/** The updates of a change of the field `messages`, which may have both statuses and messages. */
export function* readMessages(value: JsonObject, place: Place): Generator<Update> {
  const contacts = contactsOf(value)
  const { statuses, messages, errors } = value
  for (const status of elementsOf(statuses)) yield readStatus(status, place, contacts)
  for (const message of elementsOf(messages)) yield readMessage(message, place, contacts)
  for (const error of elementsOf(errors)) yield makeWhole('other', place, asObject(error))
  if (![statuses, messages, errors].some((list) => elementsOf(list).length > 0)) {
    const problem = 'the change has neither statuses nor messages'
    yield makeWhole('other', place, value, { problem })
  }
}

/** The updates of a change of the field `user_preferences`. */
export function* readPreferences(value: JsonObject, place: Place): Generator<Update> {
  const contacts = contactsOf(value)
  const preferences = elementsOf(value['user_preferences'])
  for (const preference of preferences) yield readPreference(preference, place, contacts)
  if (preferences.length === 0) {
    yield makeWhole('preference', place, value, { problem: 'the change has no user_preferences' })
  }
}

function readStatus(element: unknown, place: Place, contacts: Contacts): Update {
  const status = objectOf(element)
  if (status === null) return notAnObject('status', element, place)
  const isGroup = status['recipient_type'] === 'group'
  const said = {
    waId: digitsOf(status[isGroup ? 'recipient_participant_id' : 'recipient_id']),
    userId: textOf(status['recipient_user_id'], 200),
  }
  const { data, person } = withContact(status, said, contacts)
  const [error] = elementsOf(status['errors'])
  const found = {
    wamid: textOf(status['id'], maxId),
    status: textOf(status['status'], 64),
    callback_data: textOf(status['biz_opaque_callback_data'], 512),
    at: timeOf(status['timestamp']),
    ...person,
  }
  const problem = found.wamid === null
    ? 'the status has no id'
    : found.status === null
    ? 'the status has no status'
    : numberProblem(place)
  if (problem !== null) return makeWhole('status', place, data, { ...found, problem })
  const code = objectOf(error)?.['code'] ?? null
  return makeUpdate('status', place, data, [
    place.phoneNumberId,
    found.wamid,
    found.status,
    found.at,
    isGroup ? said.waId : null,
    typeof code === 'object' ? null : code,
  ], found)
}

function readMessage(element: unknown, place: Place, contacts: Contacts): Update {
  const message = objectOf(element)
  if (message === null) return notAnObject('message', element, place)
  const said = {
    waId: digitsOf(message['from']),
    userId: textOf(message['from_user_id'], 200),
  }
  const { data, person } = withContact(message, said, contacts)
  const found = {
    wamid: textOf(message['id'], maxId),
    status: textOf(message['type'], 64),
    at: timeOf(message['timestamp']),
    ...person,
  }
  const problem = found.wamid === null ? 'the message has no id' : numberProblem(place)
  if (problem !== null) return makeWhole('message', place, data, { ...found, problem })
  // A message that WhatsApp first reports as unsupported comes again under the same id.
  const isShown = found.status !== 'unsupported'
  return makeUpdate('message', place, data, [place.phoneNumberId, found.wamid, isShown], found)
}

function readPreference(element: unknown, place: Place, contacts: Contacts): Update {
  const preference = objectOf(element)
  if (preference === null) return notAnObject('preference', element, place)
  const said = {
    waId: digitsOf(preference['wa_id']),
    userId: textOf(preference['user_id'], 200),
  }
  const { data, person } = withContact(preference, said, contacts)
  const found = {
    status: textOf(preference['value'], 64),
    at: timeOf(preference['timestamp']),
    ...person,
  }
  const problem = person.wa_id === null && person.user_id === null
    ? 'the preference names nobody'
    : found.status === null
    ? 'the preference has no value'
    : numberProblem(place)
  if (problem !== null) return makeWhole('preference', place, data, { ...found, problem })
  return makeUpdate('preference', place, data, [
    place.phoneNumberId,
    person.wa_id,
    person.user_id,
    textOf(preference['category'], 64),
    found.status,
    found.at,
  ], found)
}

function withContact(
  element: JsonObject,
  said: Person,
  contacts: Contacts,
): { data: JsonObject; person: { wa_id: string | null; user_id: string | null } } {
  const contact = findContact(contacts, said)
  const { waId, userId } = completePerson(said, contact)
  return {
    data: contact === null ? element : { ...element, contact },
    person: { wa_id: waId, user_id: userId },
  }
}

function notAnObject(
  kind: 'status' | 'message' | 'preference',
  element: unknown,
  place: Place,
): Update {
  const found: Found = { problem: `the ${kind} is not an object` }
  return makeWhole(kind, place, asObject(element), found)
}

function numberProblem({ phoneNumberId }: Place): string | null {
  return phoneNumberId === null ? 'metadata.phone_number_id is missing' : null
}
