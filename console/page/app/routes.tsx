/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { DeadLetterPage } from '../dead_letters/dead_letter.tsx'
import { DeadLettersPage } from '../dead_letters/dead_letters.tsx'
import { ReplayPage, ReplaysPage } from '../dead_letters/replays.tsx'
import { EndpointPage } from '../endpoints/endpoint.tsx'
import { EndpointsPage } from '../endpoints/endpoints.tsx'
import { EventPage } from '../events/event.tsx'
import { EventsPage } from '../events/events.tsx'
import { OverviewPage } from '../overview/overview.tsx'
import { later } from '../parts/later.tsx'
import { Link } from '../parts/link.tsx'
import { Empty } from '../parts/state.tsx'
import { Guarded } from '../parts/view_failed.tsx'
import { NotAllowed } from './allowed.tsx'
import { orgOf, replacePlace, usePlace } from './location.ts'
import { isAllowed, needsOf, pageOf, pages } from './pages.ts'

interface Route {
  title: string
  list(): JSX.Element
  one?: (id: string) => JSX.Element
}

const EventTypesPage = later(async () =>
  (await import('../catalogue/event_types.tsx')).EventTypesPage
)
const EventTypePage = later(async () =>
  (await import('../catalogue/event_types.tsx')).EventTypePage
)
const SagasPage = later(async () => (await import('../sagas/sagas.tsx')).SagasPage)
const SagaExecutionPage = later(async () => (await import('../sagas/sagas.tsx')).SagaExecutionPage)
const SettingsPage = later(async () => (await import('../settings/settings.tsx')).SettingsPage)

const MessagesPage = later(async () => (await import('../messages/pages.ts')).MessagesPage)
const MessagePage = later(async () => (await import('../messages/pages.ts')).MessagePage)
const PersonPage = later(async () => (await import('../messages/pages.ts')).PersonPage)
const DossierPage = later(async () => (await import('../messages/pages.ts')).DossierPage)
const InboundPage = later(async () => (await import('../messages/pages.ts')).InboundPage)
const ChannelsPage = later(async () => (await import('../messages/pages.ts')).ChannelsPage)
const TemplatesPage = later(async () => (await import('../messages/pages.ts')).TemplatesPage)
const ConsumersPage = later(async () => (await import('../consumers/consumers.tsx')).ConsumersPage)
const RunsPage = later(async () => (await import('../runs/runs.tsx')).RunsPage)
const AuditPage = later(async () => (await import('../audit/audit.tsx')).AuditPage)

const routes: Readonly<Record<string, Route>> = {
  '': { title: 'Overview', list: () => <OverviewPage /> },
  'events': {
    title: 'Events',
    list: () => <EventsPage />,
    one: (id) => <EventPage key={id} id={id} />,
  },
  'endpoints': {
    title: 'Endpoints',
    list: () => <EndpointsPage />,
    one: (id) => <EndpointPage key={id} id={id} />,
  },
  'dead-letters': {
    title: 'Dead letters',
    list: () => <DeadLettersPage />,
    one: (id) => <DeadLetterPage key={id} id={id} />,
  },
  'replays': {
    title: 'Replay jobs',
    list: () => <ReplaysPage />,
    one: (id) => <ReplayPage key={id} id={id} />,
  },
  'event-types': {
    title: 'Event types',
    list: () => <EventTypesPage />,
    one: (id) => <EventTypePage key={id} id={id} />,
  },
  'sagas': {
    title: 'Sagas',
    list: () => <SagasPage />,
    one: (id) => <SagaExecutionPage key={id} id={id} />,
  },
  'messages': {
    title: 'Messages',
    list: () => <MessagesPage />,
    one: (id) => <MessagePage key={id} id={id} />,
  },
  'inbound': { title: 'Inbound messages', list: () => <InboundPage /> },
  'channels': { title: 'Channels', list: () => <ChannelsPage /> },
  'templates': { title: 'Templates', list: () => <TemplatesPage /> },
  'people': {
    title: 'Person',
    list: () => <MessagesPage />,
    one: (id) => <PersonPage key={id} id={id} />,
  },
  'dossiers': {
    title: 'Dossier',
    list: () => <MessagesPage />,
    one: (id) => <DossierPage key={id} id={id} />,
  },
  'consumers': { title: 'Consumers', list: () => <ConsumersPage /> },
  'runs': { title: 'Runs', list: () => <RunsPage /> },
  'audit': { title: 'Audit trail', list: () => <AuditPage /> },
  'settings': { title: 'Settings', list: () => <SettingsPage /> },
}

/** The view of the address. */
export function Routes(): JSX.Element {
  const place = usePlace()
  const [, name = '', word, ...rest] = place.path.split('/')
  const id = word === undefined ? '' : decoded(word)
  const route = Object.hasOwn(routes, name) && rest.length === 0 ? routes[name] : undefined
  useEffect(() => {
    document.title = route === undefined ? 'Outhook' : `${route.title} · Outhook`
  }, [route])
  const view = id === '' ? route?.list() : id === null ? undefined : route?.one?.(id)
  if (view === undefined) {
    return (
      <Empty isPage title='There is no such page'>
        <p>
          <Link to='/'>Overview</Link>
        </p>
      </Empty>
    )
  }
  const needs = needsOf(name)
  if (pageOf(name) !== undefined && !isAllowed({ needs })) {
    const first = name === '' ? pages.find(isAllowed) : undefined
    return first === undefined ? <NotAllowed needs={needs} /> : <Instead path={first.path} />
  }
  // Another organisation starts each view anew.
  return (
    <div key={`${orgOf(place)} ${name}`}>
      <Guarded at={`${place.path}?${place.query}`} title={route?.title ?? 'Outhook'}>
        {view}
      </Guarded>
    </div>
  )
}

/** Shows another page in place of the one of the address. */
function Instead({ path }: { path: string }): null {
  useEffect(() => replacePlace(path), [path])
  return null
}

/** A word of a path as text; null if it is not one. */
function decoded(word: string): string | null {
  try {
    return decodeURIComponent(word)
  } catch {
    return null
  }
}
