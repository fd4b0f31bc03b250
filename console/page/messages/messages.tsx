/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { listPath } from '../app/list_path.ts'
import { navigate, usePlace } from '../app/location.ts'
import { may } from '../app/session.ts'
import { Snippet } from '../overview/first_endpoint.tsx'
import { Choice, TextFilter } from '../parts/filters.tsx'
import { Link } from '../parts/link.tsx'
import { PagedTable, usePages } from '../parts/pages.tsx'
import { SpanFilter, useSpan } from '../parts/span.tsx'
import { Empty } from '../parts/state.tsx'
import { Foreign, Time } from '../parts/value.tsx'
import { contentOf, MessageBadge, messageStatuses } from './message_badge.tsx'
import { plainNumber } from './phone.ts'
import { findMessages, messageFilters, messageSearches, messageSearchProblem } from './search.ts'
import { MessageTabs } from './tabs.tsx'

const statusChoices = [
  ['', 'Any status'],
  ...messageStatuses.map((status) => [status, status.toLowerCase()] as const),
] as const

/** The messages that were sent or are to be sent, and the way to a person or a dossier. */
export function MessagesPage(): JSX.Element {
  if (may('messages:read')) return <MessageList />
  return (
    <>
      <div class='page-head'>
        <h1>Messages</h1>
      </div>
      <FindHistory />
    </>
  )
}

function MessageList(): JSX.Element {
  const { query } = usePlace()
  const kind = query.get('by') ?? ''
  const text = query.get('q') ?? ''
  const status = query.get('status')
  const span = useSpan()
  const problem = messageSearchProblem(kind, text) ?? span.problem
  const messages = usePages(
    ['messages', kind, text, status, span.key],
    (cursor, signal) => findMessages({ kind, text, status, span: span.now(), cursor, signal }),
    problem === null,
  )
  const isFiltered = text !== '' || status !== null || span.isSet
  return (
    <>
      <MessageTabs at='/messages' />
      <FindHistory />
      <div class='filters' role='search'>
        <Choice name='by' label='Search by' choices={messageSearches} />
        <TextFilter name='q' label='Search' hint={kind === '' ? '+12025550111' : ''} search />
        <Choice name='status' label='Status' choices={statusChoices} />
        <SpanFilter label='Created' />
      </div>
      {problem !== null ? <p class='hint' role='status'>{problem}</p> : (
        <PagedTable
          of={messages}
          caption='Messages'
          path={listPath(
            '/outbound/messages',
            messageFilters({ kind, text, status, span: span.now() }),
          )}
          head={['Created', 'Message', 'To', 'Dossier', 'Status', 'Attempts']}
          row={(one) => (
            <tr key={one.id}>
              <td class='nowrap'>
                <Time at={one.createdAt} />
              </td>
              <td class='error-text'>
                <Link to={`/messages/${one.id}`} row class='strong'>
                  <Foreign text={contentOf(one)} />
                </Link>
                {one.errorMessage !== null && (
                  <div class='quiet'>
                    <Foreign text={one.errorMessage} />
                  </div>
                )}
              </td>
              <td class='nowrap'>
                <PersonLink recipient={one.to} />
              </td>
              <td>
                {one.dossierId !== null && <DossierLink id={one.dossierId} />}
              </td>
              <td>
                <MessageBadge message={one} />
              </td>
              <td class='num'>{one.attemptCount}</td>
            </tr>
          )}
          empty={isFiltered ? <NothingFound /> : <FirstMessage />}
        />
      )}
    </>
  )
}

/** A number as a link to the person; the number of an erased person is not there any more. */
export function PersonLink({ recipient }: { recipient: string }): JSX.Element {
  if (recipient === 'erased') return <span class='quiet'>erased</span>
  if (!may('consents:read')) return <Foreign text={recipient} mono />
  return (
    <Link to={`/people/${encodeURIComponent(recipient)}`}>
      <Foreign text={recipient} mono />
    </Link>
  )
}

export function DossierLink({ id }: { id: string }): JSX.Element {
  return (
    <Link to={`/dossiers/${encodeURIComponent(id)}`}>
      <Foreign text={id} mono />
    </Link>
  )
}

/** Opens the history of one person or dossier. */
function FindHistory(): JSX.Element {
  const [text, setText] = useState('')
  const mayPerson = may('consents:read')
  const open = (event: Event): void => {
    event.preventDefault()
    const word = text.trim()
    if (word === '') return
    const isPerson = word.startsWith('+') && mayPerson
    const id = isPerson ? plainNumber(word) : word
    navigate(`/${isPerson ? 'people' : 'dossiers'}/${encodeURIComponent(id)}`)
  }
  return (
    <form class='filters' onSubmit={open}>
      <label class='field grow'>
        {mayPerson ? 'History of a person or a dossier' : 'History of a dossier'}
        <input
          value={text}
          maxLength={128}
          spellcheck={false}
          autocomplete='off'
          placeholder={mayPerson ? '+12025550111 or dossier-12' : 'dossier-12'}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type='submit'>Open</button>
    </form>
  )
}

function NothingFound(): JSX.Element {
  return (
    <Empty title='No message matches'>
      <p>
        Choose another status or a longer time. A number is found in the form in which the message
        has it, and not after it was erased. The <Link to='/audit'>audit trail</Link>{' '}
        has messages that were refused.
      </p>
    </Empty>
  )
}

function FirstMessage(): JSX.Element {
  return (
    <Empty title='No message was created yet'>
      <p>
        A message goes to a person over a <Link to='/channels'>channel</Link>, mostly by a{' '}
        <Link to='/templates'>template</Link>. Create one over the API:
      </p>
      <Snippet
        text={`curl "$API_URL/functions/v1/api/v1/outbound/messages" -H "apikey: $SECRET_KEY" ` +
          `-H 'content-type: application/json' -d '{"channel": "WHATSAPP", "to": "+12025550111", ` +
          `"templateCode": "reminder", "payloadJson": {"parameters": ["Anna"]}}'`}
      />
    </Empty>
  )
}
