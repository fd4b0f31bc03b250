/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { api } from '../app/api.ts'
import { everyMs, useLive } from '../app/data.ts'
import { number, visible } from '../app/format.ts'
import { may } from '../app/session.ts'
import { CopyCommands } from '../parts/copy_commands.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Read } from '../parts/state.tsx'
import { EndpointName, Foreign, Time } from '../parts/value.tsx'
import { type Group, ReplayGroup } from './replay_all.tsx'

/** The dead letters that wait for a decision, by endpoint and error. */
export function DeadLetterGroups(): JSX.Element {
  // Outside the row, because a poll may remove the row while the dialog is open.
  const [replayed, setReplayed] = useState<Group | null>(null)
  return (
    <>
      {replayed !== null && <ReplayGroup {...replayed} onClose={() => setReplayed(null)} />}
      <Groups onReplay={setReplayed} />
    </>
  )
}

function Groups({ onReplay }: { onReplay(group: Group): void }): JSX.Element {
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
                      <th scope='col' class='num'>Dead letters</th>
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
                          <Link to={listOf(endpointId, error)} row>All of the group</Link>
                        </td>
                        {mayReplay && (
                          <td class='nowrap'>
                            <button
                              type='button'
                              aria-label={`Replay: ${visible(error)}`}
                              onClick={() => onReplay({ endpointId, error, firstAt })}
                            >
                              Replay …
                            </button>
                          </td>
                        )}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
              <CopyCommands path='/dead-letter-groups' />
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

/** The list of a group. */
function listOf(endpoint: string, error: string): string {
  return `/dead-letters?${new URLSearchParams({ endpoint, error })}`
}
