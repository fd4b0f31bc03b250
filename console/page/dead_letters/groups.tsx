/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { api } from '../app/api.ts'
import { everyMs, useLive } from '../app/data.ts'
import { number } from '../app/format.ts'
import { may } from '../app/session.ts'
import { Link } from '../parts/link.tsx'
import { Empty, Read } from '../parts/state.tsx'
import { EndpointName, Foreign, Time } from '../parts/value.tsx'
import { ReplayGroup } from './replay_all.tsx'

/** The dead letters that wait for a decision, by endpoint and error. */
export function DeadLetterGroups(): JSX.Element {
  const groups = useLive(
    ['dead-letter-groups'],
    (signal) => api.groupDeadLetters({ signal }),
    { every: everyMs.slow },
  )
  const mayReplay = may('deliveries:replay')
  return (
    <Read of={groups}>
      {({ data, isWhole }) =>
        data.length === 0 && isWhole
          ? (
            <Empty title='No dead letter waits for a decision'>
              <p>All of them were replayed or discarded.</p>
            </Empty>
          )
          : (
            <>
              <div class='table-box'>
                <table>
                  <caption class='hidden'>Dead letters by endpoint and error</caption>
                  <thead>
                    <tr>
                      <th scope='col'>Endpoint</th>
                      <th scope='col'>Error</th>
                      <th scope='col' class='num'>Number</th>
                      <th scope='col'>First</th>
                      <th scope='col'>Last</th>
                      <th scope='col'>List</th>
                      {mayReplay && <th scope='col'>Replay</th>}
                    </tr>
                  </thead>
                  <tbody>
                    {data.map(({ endpointId, error, count, firstAt, lastAt }) => (
                      <tr key={`${endpointId} ${error}`}>
                        <td>
                          <EndpointName id={endpointId} />
                        </td>
                        <td class='error-text'>
                          <Foreign text={error} />
                        </td>
                        <td class='num'>{number(count)}</td>
                        <td class='nowrap'>
                          <Time at={firstAt} />
                        </td>
                        <td class='nowrap'>
                          <Time at={lastAt} />
                        </td>
                        <td class='nowrap'>
                          <Link to={`/dead-letters?endpoint=${endpointId}`} row>
                            Show all
                          </Link>
                        </td>
                        {mayReplay && (
                          <td class='nowrap'>
                            <ReplayGroup {...{ endpointId, error, firstAt }} />
                          </td>
                        )}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
              {!isWhole && (
                <p class='quiet'>
                  Not all that wait are counted: 20,000 dead letters at most, the newest of each
                  endpoint, and 100 groups.
                </p>
              )}
            </>
          )}
    </Read>
  )
}
