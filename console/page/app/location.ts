import { useEffect, useState } from 'preact/hooks'

/** Where the page is: its path, and the query, which holds filters, so that each view has a link. */
export interface Place {
  path: string
  query: URLSearchParams
}

const listeners = new Set<() => void>()
globalThis.addEventListener('popstate', () => announce())

function announce(): void {
  for (const listener of listeners) listener()
}

export function currentPlace(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search) }
}

/** The place, followed as it changes. */
export function usePlace(): Place {
  const [place, setPlace] = useState(currentPlace)
  useEffect(() => {
    const follow = (): void => setPlace(currentPlace())
    listeners.add(follow)
    // An effect of a child, which runs before this one, may have gone elsewhere.
    if (place.path !== location.pathname || `${place.query}` !== `${currentPlace().query}`) follow()
    return () => {
      listeners.delete(follow)
    }
  }, [])
  return place
}

/** Goes to a path of the console, in the same organisation. */
export function navigate(path: string): void {
  history.pushState(null, '', withOrg(path))
  globalThis.scrollTo(0, 0)
  announce()
  // A screen reader starts at the new page.
  document.getElementById('main')?.focus({ preventScroll: true })
}

/** Changes parameters of the query; null and '' remove one. Typing does not fill the history. */
export function setQuery(change: Record<string, string | null>): void {
  const { path, query } = currentPlace()
  for (const [name, value] of Object.entries(change)) {
    if (value === null || value === '') query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  history.replaceState(null, '', text === '' ? path : `${path}?${text}`)
  announce()
}

/** Goes to a path in place of the current one, in the same organisation. */
export function replacePlace(path: string): void {
  history.replaceState(null, '', withOrg(path))
  announce()
}

/** Whether a text has the form of the id of an organisation. */
export function isOrgId(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/.test(text)
}

const defaultOrg = 'default'

/** The organisation that an address without one means; null: each address of the page names one. */
let home: string | null = defaultOrg

/** Sets it to that of the token, for a page with a token. */
export function setHome(org: string | null): void {
  home = org
}

/** The organisation of the place; null if the API has to say that of the token. */
export function knownOrg({ query }: Place): string | null {
  const org = query.get('org')
  return org === null || org === '' ? home : org
}

/** The organisation of the place. */
export function orgOf(place: Place): string {
  return knownOrg(place) ?? defaultOrg
}

/** The parameter of the address for an organisation; null if it needs none. */
export function orgParameter(org: string): string | null {
  return org === home ? null : org
}

/** Adds the organisation of the current place to a path, unless it names one. */
export function withOrg(path: string): string {
  const org = orgOf(currentPlace())
  const [before = '', after = ''] = path.split('?')
  const query = new URLSearchParams(after)
  if (org === home || query.has('org')) return path
  query.set('org', org)
  return `${before}?${query}`
}
