import { currentZone, type Zone } from './zone.ts'

/** A time of a field `datetime-local`, in the chosen zone, as the API takes it; null if it is none. */
export function isoOf(field: string, zone: Zone = currentZone()): string | null {
  const ms = Date.parse(zone === 'UTC' && field !== '' ? `${field}Z` : field)
  return Number.isNaN(ms) ? null : new Date(ms).toISOString()
}

/** A time of the API for such a field, to the minute; empty if it is none. */
export function fieldOf(iso: string | null, zone: Zone = currentZone()): string {
  const ms = Date.parse(iso ?? '')
  if (Number.isNaN(ms)) return ''
  const offset = zone === 'UTC' ? 0 : new Date(ms).getTimezoneOffset() * 60_000
  return new Date(ms - offset).toISOString().slice(0, 16)
}
