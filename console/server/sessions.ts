import { Buffer } from 'node:buffer'
import { randomBytes, timingSafeEqual } from 'node:crypto'

/** The links that open the console once, and the browsers that have opened one. */
export interface Sessions {
  /** Creates the token of a new link. A link that was not opened yet no longer works. */
  newLink(): string
  /** Exchanges the token of the link for a session id; null if the token is wrong or was used. */
  open(token: string): string | null
  has(sessionId: string): boolean
}

/** Creates the sessions of one start of the server. They end with it. */
export function createSessions(): Sessions {
  let link: string | null = null
  const open = new Set<string>()
  return {
    newLink(): string {
      link = randomToken()
      return link
    },
    open(token): string | null {
      if (link === null || !isSame(token, link)) return null
      link = null
      const id = randomToken()
      open.add(id)
      return id
    },
    has: (sessionId) => open.has(sessionId),
  }
}

function randomToken(): string {
  return randomBytes(32).toString('base64url')
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
