import { digitsOf, elementsOf, objectOf, textOf } from './fields.ts'
import type { JsonObject } from './update.ts'

/** The person of an update: by number, or by an id if the number is hidden. */
export type Person = { waId: string | null; userId: string | null }

/** The contacts of a change, indexed by both ids, because a change may have thousands. */
export type Contacts = {
  /** The contact, if there is exactly one. */
  only: JsonObject | null
  byWaId: ReadonlyMap<string, JsonObject>
  byUserId: ReadonlyMap<string, JsonObject>
}

/** Each update of a person stores the contact again, so its size is limited. */
const mostCharacters = 2000

/** Indexes the contacts of a change. The first contact of an id counts. */
export function contactsOf(value: JsonObject): Contacts {
  const contacts = elementsOf(value['contacts']).map(objectOf).filter((one) => one !== null)
    .map(shortOf)
  const by = (name: string): Map<string, JsonObject> => {
    const found = new Map<string, JsonObject>()
    for (const one of contacts) {
      const id = one[name]
      if (typeof id === 'string' && !found.has(id)) found.set(id, one)
    }
    return found
  }
  const [first] = contacts
  return {
    only: contacts.length === 1 ? first ?? null : null,
    byWaId: by('wa_id'),
    byUserId: by('user_id'),
  }
}

/** The contact, or only its ids if it is large. */
function shortOf(contact: JsonObject): JsonObject {
  if (JSON.stringify(contact).length <= mostCharacters) return contact
  const { wa_id: waId, user_id: userId } = contact
  return { wa_id: digitsOf(waId), user_id: textOf(userId, 200), lossy: true }
}

/** The contact of that person; the only one if an update names nobody. */
export function findContact(contacts: Contacts, { waId, userId }: Person): JsonObject | null {
  if (waId === null && userId === null) return contacts.only
  return (waId === null ? undefined : contacts.byWaId.get(waId)) ??
    (userId === null ? undefined : contacts.byUserId.get(userId)) ?? null
}

/** The person, with missing ids from the contact. */
export function completePerson(person: Person, contact: JsonObject | null): Person {
  return {
    waId: person.waId ?? digitsOf(contact?.['wa_id']),
    userId: person.userId ?? textOf(contact?.['user_id'], 200),
  }
}
