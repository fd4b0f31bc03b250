/** @jsxImportSource preact */

import { keepPreviousData, useQuery } from '@tanstack/preact-query'
import type { JSX } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Go } from '../parts/go.tsx'
import { Problem } from '../parts/state.tsx'
import { Guarded } from '../parts/view_failed.tsx'
import { Warnings } from '../endpoints/warnings.tsx'
import type { Connection } from './connection.ts'
import { type Portal, PortalContext, type Session, usePortal } from './context.ts'
import { useAction } from './data.ts'
import { mayPass } from './failure.ts'
import { Routes } from './routes.tsx'
import type { Router } from './router.ts'
import type { Words } from './words.ts'

/** The page around every view: what the token allows, and where one may go. */
export function Shell({ connection, renewals, words, router, onOther, tell }: {
  connection: Connection
  /** How often the token was renewed, or could not be. */
  renewals: number
  words: Words
  router: Router
  /** A renewed token is that of another customer. */
  onOther(): void
  /** Gets the error of a view that failed. */
  tell(error: unknown): void
}): JSX.Element {
  const { keeper, client, readText } = connection
  const query = useQuery({
    queryKey: ['session', keeper.isLost ? 'lost' : renewals],
    queryFn: ({ signal }) => client.getSession({ signal }),
    placeholderData: keepPreviousData,
    retry: (failures, error) => failures < 2 && mayPass(error),
    // A lost token is asked for by the button, and not again and again.
    enabled: !keeper.isLost || renewals === 0,
  })
  const session = query.data
  const first = useRef<Session | undefined>(undefined)
  first.current ??= session
  const isOther = session !== undefined && customerOf(session) !== customerOf(first.current)
  useEffect(() => {
    if (isOther) onOther()
    else if (session !== undefined) keeper.expiresIn(session.expiresInSeconds)
  }, [session])
  const portal = useMemo<Portal | null>(() =>
    session === undefined || isOther ? null : {
      ...{ client, readText, session, words, router },
      isSignedOut: () => keeper.isLost,
      can: (scope) => session.scopes.includes(scope),
    }, [session, words, router.page])
  return (
    <div class='portal' part='portal' lang={words.lang}>
      {keeper.isLost && <SignIn connection={connection} words={words} />}
      {portal !== null
        ? (
          <PortalContext.Provider value={portal}>
            <Pages tell={tell} />
          </PortalContext.Provider>
        )
        : keeper.isLost
        ? null
        : query.isError
        ? <Problem error={query.error} words={words} retry={() => void query.refetch()} />
        : <p class='quiet' role='status'>{words.t('loading')}</p>}
    </div>
  )
}

/** Whose data a token shows. */
function customerOf(session: Session | undefined): string {
  return JSON.stringify([session?.orgId, session?.endpointIds, session?.eventTypes])
}

function Pages({ tell }: { tell(error: unknown): void }): JSX.Element {
  const portal = usePortal()
  const main = useRef<HTMLDivElement>(null)
  const isFirst = useRef(true)
  const { page } = portal.router
  useEffect(() => {
    if (isFirst.current) isFirst.current = false
    // A screen reader starts at the new page.
    else main.current?.focus({ preventScroll: true })
  }, [page])
  const { t } = portal.words
  const tabs = [
    ...portal.can('endpoints:read') ? [['endpoints', t('endpoints')] as const] : [],
    ...portal.can('event-types:read') ? [['event-types', t('eventTypes')] as const] : [],
  ]
  // A delivery belongs to an endpoint.
  const room = page.replace(/^deliveries\//, 'endpoints/')
  const isHere = (tab: string): boolean => room === tab || room.startsWith(`${tab}/`)
  return (
    <>
      {tabs.length > 1 && (
        <nav class='tabs' part='header' aria-label={t('pages')}>
          {tabs.map(([tab, name]) => (
            <Go key={tab} to={tab} class='tab' current={isHere(tab)}>{name}</Go>
          ))}
        </nav>
      )}
      <Guarded at={page} words={portal.words} tell={tell}>
        <Warnings />
      </Guarded>
      <div ref={main} tabIndex={-1} class='main'>
        <Guarded at={page} words={portal.words} tell={tell}>
          <Routes />
        </Guarded>
      </div>
    </>
  )
}

function SignIn({ connection, words }: { connection: Connection; words: Words }): JSX.Element {
  const action = useAction(() => connection.keeper.renew('refused'))
  return (
    <div class='problem' role='alert'>
      <p>{words.t('signedOut')}</p>
      {connection.keeper.canRenew && (
        <button
          type='button'
          part='button'
          disabled={action.isRunning}
          onClick={() => void action.run()}
        >
          {words.t('signInAgain')}
        </button>
      )}
    </div>
  )
}
