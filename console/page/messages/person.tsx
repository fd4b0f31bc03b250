/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { api, asFailure } from '../app/api.ts'
import { useLive } from '../app/data.ts'
import { may } from '../app/session.ts'
import { CopyCommands } from '../parts/copy_commands.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Read } from '../parts/state.tsx'
import { Badge, EndpointName, Fact, Foreign, Time } from '../parts/value.tsx'
import {
  changeItems,
  inboundItems,
  inOrder,
  messageItems,
  numbersOf,
  numbersRead,
} from './history.ts'
import { type History, HistoryList } from './history_list.tsx'

type Person = Output<'getPerson'>

/** One person: identifiers, opt-outs, windows, and all that happened. */
export function PersonPage({ id: recipient }: { id: string }): JSX.Element {
  const found = useLive(['person', recipient], async (signal) => {
    const person = await api.getPerson({ path: { recipient }, signal })
    return { person, ...await historyOf(person, recipient, signal) }
  })
  if (found.isError && [400, 404].includes(asFailure(found.error).status)) {
    return (
      <Empty isPage title='There is no such person'>
        <p>
          A person is known after the first message to or from them, by a phone number with + and
          the country code, by a wa_id or by a user id of WhatsApp.{' '}
          <Link to='/messages'>All messages</Link>
        </p>
      </Empty>
    )
  }
  return (
    <Read of={found}>
      {({ person, history, dossiers }) => (
        <>
          <nav class='trail' aria-label='Trail'>
            <Link to='/messages'>Messages</Link>
          </nav>
          <div class='page-head'>
            <h1>
              <Foreign text={person.name ?? person.recipients[0] ?? 'An erased person'} />
            </h1>
            {person.optOuts.map(({ purpose }) => (
              <Badge key={purpose} tone='warn'>
                {purpose === 'ALL' ? 'wants no messages' : 'wants no marketing'}
              </Badge>
            ))}
            <CopyCommands path={`/people/${encodeURIComponent(recipient)}`} />
          </div>
          <Facts person={person} dossiers={dossiers} />
          <HistoryList history={history} />
        </>
      )}
    </Read>
  )
}

/** The newest 100 of each kind, and the dossiers of these messages. */
async function historyOf(
  person: Person,
  recipient: string,
  signal: AbortSignal,
): Promise<{ history: History; dossiers: string[] }> {
  const known = numbersOf(person.recipients)
  const numbers = known.slice(0, numbersRead)
  const [messages, inbound, changes] = await Promise.all([
    may('messages:read')
      ? Promise.all(
        numbers.map((to) => api.listMessages({ query: { to, limit: 100 }, signal })),
      )
      : [],
    may('messages:read')
      ? api.listInboundMessages({ query: { from: recipient, limit: 100 }, signal })
      : { data: [], nextCursor: null },
    may('audit:read')
      ? api.listAuditEvents({
        query: { entityType: 'PERSON', entityId: person.id, limit: 100 },
        signal,
      })
      : { data: [], nextCursor: null },
  ])
  const history = {
    items: inOrder([
      ...messages.flatMap(({ data }) => messageItems(data)),
      ...inboundItems(inbound.data),
      ...changeItems(changes.data),
    ]),
    isCut: known.length > numbers.length ||
      [...messages, inbound, changes].some(({ nextCursor }) => nextCursor !== null),
  }
  const ids = messages.flatMap(({ data }) => data.map(({ dossierId }) => dossierId))
  return { history, dossiers: [...new Set(ids)].filter((id) => id !== null) }
}

function Facts({ person, dossiers }: { person: Person; dossiers: string[] }): JSX.Element {
  return (
    <dl class='facts'>
      <Fact name='Numbers and user ids'>
        {person.recipients.length === 0
          ? 'erased'
          : person.recipients.map((one) => (
            <span key={one} class='line'>
              <Foreign text={one} mono />
            </span>
          ))}
      </Fact>
      {person.username !== null && (
        <Fact name='User name'>
          <Foreign text={person.username} />
        </Fact>
      )}
      {dossiers.length > 0 && (
        <Fact name='Dossiers'>
          {dossiers.map((id) => (
            <span key={id} class='line'>
              <Link to={`/dossiers/${encodeURIComponent(id)}`}>
                <Foreign text={id} />
              </Link>
            </span>
          ))}
        </Fact>
      )}
      <Fact name='Opt-outs'>
        {person.optOuts.length === 0
          ? 'none'
          : person.optOuts.map((one) => (
            <span key={one.purpose} class='line'>
              {one.purpose === 'ALL' ? 'from all messages' : 'from marketing'} (
              <Foreign text={one.source} />)
            </span>
          ))}
      </Fact>
      <Fact name='Messages without a template'>
        {person.windows.length === 0
          ? 'only after the person has written'
          : person.windows.map(({ channelId, expiresAt }) => (
            <span key={channelId} class='line'>
              until <Time at={expiresAt} /> from <EndpointName id={channelId} />
            </span>
          ))}
      </Fact>
      <Fact name='First seen'>
        <Time at={person.firstSeenAt} />
      </Fact>
      <Fact name='Last seen'>
        <Time at={person.lastSeenAt} />
      </Fact>
    </dl>
  )
}
