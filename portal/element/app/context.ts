import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Client } from '../../../package/client/client.ts'
import type { Output } from '../../../package/client/operation_types.ts'
import type { Router } from './router.ts'
import type { Words } from './words.ts'

export type Session = Output<'getSession'>
export type Scope = Session['scopes'][number]

/** What every view uses. */
export interface Portal {
  client: Client
  readText(path: string, signal: AbortSignal): Promise<string>
  session: Session
  /** Whether the page says that the customer has to sign in. */
  isSignedOut(): boolean
  /** Whether the token allows it: what it does not allow is not shown. */
  can(scope: Scope): boolean
  words: Words
  router: Router
}

export const PortalContext = createContext<Portal | null>(null)

/** The portal around a view. */
export function usePortal(): Portal {
  const portal = useContext(PortalContext)
  if (portal === null) throw new Error('usePortal() outside of the portal')
  return portal
}
