/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { api } from '../app/api.ts'
import { listPath } from '../app/list_path.ts'
import { usePlace } from '../app/location.ts'
import { TextFilter } from '../parts/filters.tsx'
import { Link } from '../parts/link.tsx'
import { PagedTable, usePages } from '../parts/pages.tsx'
import { Empty } from '../parts/state.tsx'
import { EndpointName, Foreign, Time } from '../parts/value.tsx'
import { may } from '../app/session.ts'
import { PersonLink } from './messages.tsx'
import { isPerson, plainNumber } from './phone.ts'
import { MessageTabs } from './tabs.tsx'

/** What people wrote to the channels. */
export function InboundPage(): JSX.Element {
  const text = usePlace().query.get('q') ?? ''
  const problem = text === '' || isPerson(plainNumber(text))
    ? null
    : 'A sender has a phone number such as +12025550111, a wa_id, or a user id such as US.1349.'
  const filters = text === '' ? {} : { from: plainNumber(text) }
  const messages = usePages(
    ['inbound', text],
    (cursor, signal) =>
      api.listInboundMessages({
        query: { ...filters, ...cursor === null ? {} : { cursor } },
        signal,
      }),
    problem === null,
  )
  return (
    <>
      <MessageTabs at='/inbound' />
      <div class='filters' role='search'>
        <TextFilter name='q' label='From' hint='+12025550111' search />
      </div>
      {problem !== null ? <p class='hint' role='status'>{problem}</p> : (
        <PagedTable
          of={messages}
          caption='Inbound messages'
          path={listPath('/inbound-messages', filters)}
          head={['Sent', 'From', 'Kind', 'Text', 'Reply to', 'Channel']}
          row={(one) => (
            <tr key={one.id}>
              <td class='nowrap'>
                <Time at={one.sentAt} />
              </td>
              <td class='nowrap'>
                <Sender senders={one.senders} />
              </td>
              <td>
                <Foreign text={one.type} />
              </td>
              <td class='error-text'>{one.text !== null && <Foreign text={one.text} />}</td>
              <td>
                {one.replyTo !== null && <Link to={`/messages/${one.replyTo}`}>message</Link>}
              </td>
              <td>
                <EndpointName id={one.channelId} />
              </td>
            </tr>
          )}
          empty={
            <Empty title={text === '' ? 'Nobody has written yet' : 'No message is from there'}>
              <p>
                Messages come by the callbacks of WhatsApp. If none come, check the{' '}
                <Link to='/channels'>channel</Link>: this checks whether Meta calls this project.
              </p>
            </Empty>
          }
        />
      )}
    </>
  )
}

/** Without the scope for people, the API tells no sender, so that one may be there. */
function Sender({ senders: [first] }: { senders: readonly string[] }): JSX.Element {
  if (first !== undefined) return <PersonLink recipient={first} />
  return <span class='quiet'>{may('consents:read') ? 'erased' : 'not shown'}</span>
}
