/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { api } from '../app/api.ts'
import { listPath } from '../app/list_path.ts'
import { setQuery, usePlace } from '../app/location.ts'
import { Choice, TextFilter } from '../parts/filters.tsx'
import { Link } from '../parts/link.tsx'
import { PagedTable, usePages } from '../parts/pages.tsx'
import { SpanFilter, useSpan } from '../parts/span.tsx'
import { Empty } from '../parts/state.tsx'
import { Foreign, Time } from '../parts/value.tsx'
import { auditActions, auditTypes, entityPath } from './entity.ts'

/** Who did what and when, newest first. */
export function AuditPage(): JSX.Element {
  const { query } = usePlace()
  const entityType = query.get('type')
  // An id is looked up among those of its kind: only for this there is an index.
  const entityId = entityType === null ? null : query.get('entity')
  const correlationId = query.get('q')
  const actor = query.get('who')
  const action = query.get('action')
  const span = useSpan()
  const problem = correlationId === null || /^[\x21-\x7e]{1,128}$/.test(correlationId)
    ? span.problem
    : 'A correlation id has up to 128 characters of ASCII, without spaces.'
  const filters = () => ({
    ...entityType === null ? {} : { entityType },
    ...entityId === null ? {} : { entityId },
    ...correlationId === null ? {} : { correlationId },
    ...actor === null ? {} : { actor },
    ...action === null ? {} : { action },
    ...span.now(),
  })
  const events = usePages(
    ['audit', entityType, entityId, correlationId, actor, action, span.key],
    (cursor, signal) =>
      api.listAuditEvents({
        query: { ...filters(), ...cursor === null ? {} : { cursor } },
        signal,
      }),
    problem === null,
  )
  const isFiltered = [entityType, correlationId, actor, action].some((one) => one !== null) ||
    span.isSet
  return (
    <>
      <div class='page-head'>
        <h1>Audit trail</h1>
      </div>
      <div class='filters' role='search'>
        <Choice name='type' label='About' choices={auditTypes} />
        {entityType !== null && <TextFilter name='entity' label='Id' hint='4711' />}
        <Choice name='action' label='What' choices={auditActions} />
        <TextFilter name='who' label='Who' hint='user:8f2c…' most={200} />
        <TextFilter name='q' label='Correlation id' hint='cart-7' search />
        <SpanFilter label='When' />
      </div>
      {problem !== null ? <p class='hint' role='status'>{problem}</p> : (
        <PagedTable
          of={events}
          caption='Audit trail'
          path={listPath('/audit-events', filters())}
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
                It has what people and programs did with endpoints, secrets, deliveries, replay
                jobs, event types and settings, each change of a message, a channel, a template, a
                consent and an opt-out, and each message that was refused, with its reason.
              </p>
              {isFiltered && (
                <button
                  type='button'
                  onClick={() =>
                    setQuery({
                      ...{ type: null, entity: null, q: null, who: null, action: null },
                      ...{ span: null, from: null, to: null },
                    })}
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
