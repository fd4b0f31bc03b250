import { digitsOf, elementsOf, objectOf, textOf } from './fields.ts'
import type { JsonObject } from './update.ts'

/** Who an update is about: by number, or by the id that stands for it where the number is hidden. */
export type Person = { waId: string | null; userId: string | null }

/** The contacts of a change; most updates come without. */
export function contactsOf(value: JsonObject): JsonObject[] {
  return elementsOf(value['contacts']).map(objectOf).filter((one) => one !== null)
}

/** The contact of that person; the only one, where an update names nobody. */
export function findContact(contacts: readonly JsonObject[], person: Person): JsonObject | null {
  const { waId, userId } = person
  const found = contacts.find((one) =>
    waId !== null && one['wa_id'] === waId || userId !== null && one['user_id'] === userId
  )
  if (found !== undefined) return found
  const [only] = contacts
  return waId === null && userId === null && contacts.length === 1 ? only ?? null : null
}

/** What the update says of the person, and what it leaves out from the contact. */
export function completePerson(person: Person, contact: JsonObject | null): Person {
  return {
    waId: person.waId ?? digitsOf(contact?.['wa_id']),
    userId: person.userId ?? textOf(contact?.['user_id'], 200),
  }
}
