/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { api } from '../app/api.ts'
import { setQuery, usePlace } from '../app/location.ts'
import { CopyCommands } from '../parts/copy_commands.tsx'
import { Choice, TextFilter } from '../parts/filters.tsx'
import { Link } from '../parts/link.tsx'
import { PagedTable, usePages } from '../parts/pages.tsx'
import { Empty } from '../parts/state.tsx'
import { Foreign, Time } from '../parts/value.tsx'
import { auditTypes, entityPath } from './entity.ts'

/** Who did what and when, newest first. */
export function AuditPage(): JSX.Element {
  const { query } = usePlace()
  const entityType = query.get('type')
  // An id is looked up among those of its kind: only for this there is an index.
  const entityId = entityType === null ? null : query.get('entity')
  const correlationId = query.get('q')
  const problem = correlationId === null || /^[\x21-\x7e]{1,128}$/.test(correlationId)
    ? null
    : 'A correlation id has up to 128 characters of ASCII, without spaces.'
  const filters = {
    ...entityType === null ? {} : { entityType },
    ...entityId === null ? {} : { entityId },
    ...correlationId === null ? {} : { correlationId },
  }
  const events = usePages(
    ['audit', entityType, entityId, correlationId],
    (cursor, signal) =>
      api.listAuditEvents({ query: { ...filters, ...cursor === null ? {} : { cursor } }, signal }),
    problem === null,
  )
  const search = new URLSearchParams(filters).toString()
  return (
    <>
      <div class='page-head'>
        <h1>Audit trail</h1>
        <CopyCommands path={`/audit-events${search === '' ? '' : `?${search}`}`} />
      </div>
      <div class='filters' role='search'>
        <Choice name='type' label='About' choices={auditTypes} />
        {entityType !== null && <TextFilter name='entity' label='Id' hint='4711' />}
        <TextFilter name='q' label='Correlation id' hint='cart-7' search />
      </div>
      {problem !== null ? <p class='hint' role='status'>{problem}</p> : (
        <PagedTable
          of={events}
          caption='Audit trail'
          head={['Time', 'What', 'About', 'Who', 'Details']}
          row={(one) => (
            <tr key={one.id}>
              <td class='nowrap'>
                <Time at={one.at} />
              </td>
              <td class='strong'>
                <Foreign text={one.action.toLowerCase().replaceAll('_', ' ')} />
              </td>
              <td>
                <About type={one.entityType} id={one.entityId} />
              </td>
              <td>
                {one.actor === null
                  ? <span class='quiet'>Outhook</span>
                  : <Foreign text={one.actor} />}
              </td>
              <td class='error-text'>
                <Foreign text={one.details} />
              </td>
            </tr>
          )}
          empty={
            <Empty title='Nothing is in the audit trail here'>
              <p>
                It has each change of a message, a channel, a template, a consent and an opt-out,
                and each message that was refused, with its reason.
              </p>
              {search !== '' && (
                <button
                  type='button'
                  onClick={() => setQuery({ type: null, entity: null, q: null })}
                >
                  Show all
                </button>
              )}
            </Empty>
          }
        />
      )}
    </>
  )
}

function About({ type, id }: { type: string; id: string }): JSX.Element {
  const path = entityPath(type, id)
  const name = (
    <>
      {type.toLowerCase().replaceAll('_', ' ')} <Foreign text={id} mono />
    </>
  )
  return path === null ? <span>{name}</span> : <Link to={path} row>{name}</Link>
}
