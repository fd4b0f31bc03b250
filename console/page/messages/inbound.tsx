/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { api } from '../app/api.ts'
import { usePlace } from '../app/location.ts'
import { TextFilter } from '../parts/filters.tsx'
import { Link } from '../parts/link.tsx'
import { PagedTable, usePages } from '../parts/pages.tsx'
import { Empty } from '../parts/state.tsx'
import { EndpointName, Foreign, Time } from '../parts/value.tsx'
import { PersonLink } from './messages.tsx'
import { plainNumber } from './phone.ts'
import { messageSearchProblem } from './search.ts'
import { MessageTabs } from './tabs.tsx'

/** What people wrote to the channels. */
export function InboundPage(): JSX.Element {
  const text = usePlace().query.get('q') ?? ''
  const problem = messageSearchProblem('', text)
  const messages = usePages(
    ['inbound', text],
    (cursor, signal) =>
      api.listInboundMessages({
        query: {
          ...text === '' ? {} : { from: plainNumber(text) },
          ...cursor === null ? {} : { cursor },
        },
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
          head={['Sent', 'From', 'Kind', 'Text', 'Reply to', 'Channel']}
          row={(one) => (
            <tr key={one.id}>
              <td class='nowrap'>
                <Time at={one.sentAt} />
              </td>
              <td class='nowrap'>
                <PersonLink recipient={one.senders[0] ?? 'erased'} />
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
                <Link to='/channels'>channel</Link>: it looks whether Meta calls this project.
              </p>
            </Empty>
          }
        />
      )}
    </>
  )
}
