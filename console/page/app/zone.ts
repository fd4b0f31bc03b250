import { setTimeZone } from './format.ts'

/** The zone of the times: that of the browser, or UTC as the log of a server has it. */
export type Zone = 'local' | 'UTC'

const key = 'outhook-zone'

export function currentZone(): Zone {
  return localStorage.getItem(key) === 'UTC' ? 'UTC' : 'local'
}

export function applyZone(zone: Zone): void {
  setTimeZone(zone === 'UTC' ? 'UTC' : undefined)
  if (zone === 'UTC') localStorage.setItem(key, zone)
  else localStorage.removeItem(key)
  dispatchEvent(new Event('outhook-zone'))
}
