import { connect, type Connection } from '../../../portal/element/app/connection.ts'
import type { TokenSource } from '../../../portal/element/app/token.ts'

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
let signedOut = false
const listeners = new Set<() => void>()

function tokenModule(): Promise<TokenModule> {
  // A name in a variable, so that the bundler leaves the import to the browser.
  const path = '/token.js'
  // SAFETY: the documentation describes the module, and the token is checked when it is used.
  return loaded ??= import(path) as Promise<TokenModule>
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

/** Only an organisation that somebody has chosen: without one, the API takes that of the token. */
function orgHeader(): Record<string, string> {
  const org = new URLSearchParams(location.search).get('org')
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

/** Asks for a token again; where to log in if there is none. */
export async function signInAgain(): Promise<string | null> {
  try {
    await connection?.keeper.renew('first')
    return null
  } catch {
    return (await tokenModule()).signIn ?? null
  }
}
