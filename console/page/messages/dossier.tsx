/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { useLive } from '../app/data.ts'
import { may } from '../app/session.ts'
import { CopyCommands } from '../parts/copy_commands.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Read } from '../parts/state.tsx'
import { Badge, Foreign } from '../parts/value.tsx'
import {
  consentItems,
  inboundItems,
  inOrder,
  messageItems,
  numbersOf,
  numbersRead,
} from './history.ts'
import { type History, HistoryList } from './history_list.tsx'
import { PersonLink } from './messages.tsx'
import { isPerson } from './phone.ts'

interface Dossier extends History {
  consents: Output<'listConsents'>['data']
  numbers: string[]
}

/** One dossier: the consents in force, the people, and all that happened. */
export function DossierPage({ id: dossierId }: { id: string }): JSX.Element {
  const dossier = useLive(['dossier', dossierId], (signal) => readDossier(dossierId, signal))
  return (
    <Read of={dossier}>
      {(one) => (
        <>
          <nav class='trail' aria-label='Trail'>
            <Link to='/messages'>Messages</Link>
          </nav>
          <div class='page-head'>
            <h1>
              Dossier <Foreign text={dossierId} />
            </h1>
            {one.consents.filter(({ inForce }) => inForce).map(({ purpose, channel, granted }) => (
              <Badge key={`${purpose} ${channel}`} tone={granted ? 'good' : 'warn'}>
                {purpose.toLowerCase()} {granted ? 'allowed' : 'not allowed'}
              </Badge>
            ))}
            <CopyCommands path={`/dossiers/${encodeURIComponent(dossierId)}/activity`} />
          </div>
          {one.items.length === 0
            ? (
              <Empty title='Nothing is stored of this dossier'>
                {isPerson(dossierId) && may('consents:read') && (
                  <p>
                    <Link to={`/people/${encodeURIComponent(dossierId)}`}>
                      Look for a person with this number or user id
                    </Link>
                  </p>
                )}
                <p>
                  A dossier is your own id of a case or a customer. It begins with its first consent
                  or message. Its id has the same capitals and small letters as in your request.
                  Record a consent by <code>POST /dossiers/{'{'}dossierId{'}'}/consents</code>.
                </p>
              </Empty>
            )
            : (
              <>
                {one.numbers.length > 0 && (
                  <p class='row people'>
                    {one.numbers.map((number) => <PersonLink key={number} recipient={number} />)}
                  </p>
                )}
                <HistoryList history={one} />
              </>
            )}
        </>
      )}
    </Read>
  )
}

async function readDossier(dossierId: string, signal: AbortSignal): Promise<Dossier> {
  const path = { dossierId }
  const [consents, messages] = await Promise.all([
    may('consents:read') ? api.listConsents({ path, signal }) : { data: [] },
    may('messages:read')
      ? api.listMessages({ query: { dossierId, limit: 100 }, signal })
      : { data: [], nextCursor: null },
  ])
  const people = numbersOf(messages.data.map(({ to }) => to))
  const numbers = people.slice(0, numbersRead)
  const inbound = await Promise.all(
    numbers.map((from) => api.listInboundMessages({ query: { from, limit: 100 }, signal })),
  )
  return {
    consents: consents.data,
    numbers,
    items: inOrder([
      ...consentItems(consents.data),
      ...messageItems(messages.data),
      ...inbound.flatMap(({ data }) => inboundItems(data)),
    ]),
    isCut: people.length > numbers.length ||
      [messages, ...inbound].some(({ nextCursor }) => nextCursor !== null),
  }
}
