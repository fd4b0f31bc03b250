import { connect, type Connection } from '../../../portal/element/app/connection.ts'
import type { TokenSource } from '../../../portal/element/app/token.ts'
import { currentPlace, knownOrg, setHome } from './location.ts'

/**
 * The page on a host behind a login: it has no server of its own, and calls the API with the token of
 * whoever is logged in. The file `/token.js` gives it.
 */
interface Hosting {
  /** The URL of the project. */
  api: string
  functionName: string
}

/** Where the page is hosted; null if `task console` serves it. */
const hosting = readHosting()
// The API says which organisation the token has.
if (hosting !== null) setHome(null)

function readHosting(): Hosting | null {
  const meta = document.querySelector('meta[name="outhook-api"]')
  const api = meta?.getAttribute('content')
  if (meta === null || api === null || api === undefined) return null
  return { api, functionName: meta.getAttribute('data-function') ?? 'api' }
}

/** What `/token.js` exports. */
interface TokenModule {
  /** Returns the token of whoever is logged in, or rejects. */
  token: TokenSource
  /** Where one logs in. */
  signIn?: string
}

let loaded: Promise<TokenModule> | null = null
let loads = 0
let signedOut = false
const listeners = new Set<() => void>()

function tokenModule(): Promise<TokenModule> {
  // A name in a variable, so that the bundler leaves the import to the browser.
  // A browser keeps a failed import, so that the next one needs another address.
  const path = loads === 0 ? '/token.js' : `/token.js?again=${loads}`
  // SAFETY: docs/console.md describes the module, and the token is checked when it is used.
  return loaded ??= (import(path) as Promise<TokenModule>).catch((error: unknown) => {
    loaded = null
    loads++
    throw error
  })
}

/** The way to the API of a hosted page; null if `task console` serves the page. */
export const connection: Connection | null = hosting === null ? null : connect({
  url: hosting.api,
  functionName: hosting.functionName,
  token: async (asked): Promise<string> => await (await tokenModule()).token(asked),
  headers: () => orgHeader(),
  changed(error): void {
    signedOut = error !== null && (connection?.keeper.isLost ?? true)
    for (const listener of listeners) listener()
  },
})

/** What a hosted page shows as its place; null if `task console` serves the page. */
export const hostLabel: string | null = hosting === null ? null : new URL(hosting.api).host

/** The name of the function `api` in the project. */
export const functionName: string = hosting?.functionName ?? 'api'

/** The organisation that the page shows. Without one, before the session is open, the API says it. */
function orgHeader(): Record<string, string> {
  const org = knownOrg(currentPlace())
  return org === null ? {} : { 'x-org-id': org }
}

/** Whether there is no valid token any more. */
export function isSignedOut(): boolean {
  return signedOut
}

/** Calls `listener` when the token is lost or is there again. */
export function onSignedOut(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Asks for a token again; where to log in if there is none. Rejects if `/token.js` cannot be loaded. */
export async function signInAgain(): Promise<string | null> {
  try {
    await connection?.keeper.renew('first')
    return null
  } catch {
    return (await tokenModule()).signIn ?? null
  }
}
