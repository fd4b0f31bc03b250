/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { api } from '../app/api.ts'
import { useLive } from '../app/data.ts'
import { number } from '../app/format.ts'
import { usePlace } from '../app/location.ts'
import { Snippet } from '../overview/first_endpoint.tsx'
import { CopyCommands } from '../parts/copy_commands.tsx'
import { TextFilter } from '../parts/filters.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Read } from '../parts/state.tsx'
import { Ago, Badge, Foreign, Time } from '../parts/value.tsx'

/** The consumers that have processed events, and who has processed one of them. */
export function ConsumersPage(): JSX.Element {
  const eventId = usePlace().query.get('q')
  const query = eventId === null ? {} : { eventId }
  const consumers = useLive(
    ['consumers', eventId],
    (signal) => api.listConsumers({ query, signal }),
    { keep: true },
  )
  const search = new URLSearchParams(query).toString()
  return (
    <>
      <div class='page-head'>
        <h1>Consumers</h1>
        <CopyCommands
          path={`/consumers${search === '' ? '' : `?${search}`}`}
          sql='select consumer, count(*), max(accepted_at) from outbox.consumer_inbox group by 1;'
        />
      </div>
      <p class='hint'>
        A consumer is a program that receives events and processes each of them once. The inbox
        belongs to the whole project and not to an organisation.
      </p>
      <div class='filters' role='search'>
        <TextFilter name='q' label='Who has processed an event?' hint='Its id' search />
      </div>
      <Read of={consumers}>
        {({ data, recentSince, isWhole }) =>
          data.length === 0
            ? (
              <Empty title='No consumer has processed an event yet'>
                <p>
                  Call this in the transaction that processes the event. It is true the first time:
                </p>
                <Snippet text={`select outbox.accept_once('billing', '<id of the event>');`} />
                <p>
                  <code>task consume</code>{' '}
                  does it for the messages of RabbitMQ and Kafka: docs/consumers.md.
                </p>
              </Empty>
            )
            : (
              <>
                <div class='table-box' role='region' aria-label='Consumers' tabIndex={0}>
                  <table>
                    <caption class='hidden'>Consumers</caption>
                    <thead>
                      <tr>
                        <th scope='col'>Consumer</th>
                        <th scope='col' class='num'>
                          {isWhole ? 'Processed' : 'Of the newest 10,000'}
                        </th>
                        <th scope='col'>Last one</th>
                        {eventId !== null && <th scope='col'>This event</th>}
                      </tr>
                    </thead>
                    <tbody>
                      {data.map((one) => (
                        <tr key={one.consumer}>
                          <td class='strong'>
                            <Foreign text={one.consumer} />
                          </td>
                          <td class='num'>{number(one.recent)}</td>
                          <td>
                            {one.lastAt === null
                              ? <span class='quiet'>longer ago</span>
                              : <Ago at={one.lastAt} />}
                          </td>
                          {eventId !== null && (
                            <td>
                              {one.acceptedAt === null
                                ? <Badge tone='quiet'>not processed</Badge>
                                : (
                                  <>
                                    <Badge tone='good'>processed</Badge>{' '}
                                    <Time at={one.acceptedAt} />
                                  </>
                                )}
                            </td>
                          )}
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </div>
                {recentSince !== null && (
                  <p class='row pager quiet'>
                    <span>
                      The inbox {isWhole ? 'has all since' : 'was read back to'}{' '}
                      <Time at={recentSince} />. It forgets an event after inbox.retention_days.
                    </span>
                  </p>
                )}
              </>
            )}
      </Read>
      <p>
        <Link to='/events?org=outhook&by=type&q=outhook.consumer.dead_lettered'>
          Messages that a consumer could not process
        </Link>
      </p>
    </>
  )
}
