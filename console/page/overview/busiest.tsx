/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { number } from '../app/format.ts'
import { Link } from '../parts/link.tsx'
import { Empty } from '../parts/state.tsx'
import { EndpointBadge } from '../parts/status.tsx'
import { Ago, EndpointName } from '../parts/value.tsx'
import { attemptsPath } from './attempts_path.ts'
import type { Overview } from './findings.ts'

/** The endpoints with work. Each number leads to the list of what it counts. */
export function Busiest({ overview, spanName }: {
  overview: Overview
  /** The span in the addresses of the lists. */
  spanName: string
}): JSX.Element {
  const shown = overview.busiest.slice(0, 10)
  return (
    <section class='card'>
      <div class='card-head'>
        <h2>Endpoints with work</h2>
        <Link to='/endpoints'>All endpoints</Link>
      </div>
      {shown.length === 0
        ? (
          <Empty title='No endpoint has had work'>
            <p>Publish an event to which an endpoint is subscribed, and it shows here.</p>
          </Empty>
        )
        : (
          <div class='table-box'>
            <table>
              <thead>
                <tr>
                  <th scope='col'>Endpoint</th>
                  <th scope='col'>Status</th>
                  <th scope='col' class='num'>Delivered</th>
                  <th scope='col' class='num'>Failed</th>
                  <th scope='col' class='num'>Backlog</th>
                  <th scope='col' class='num'>In flight</th>
                  <th scope='col'>Failing since</th>
                </tr>
              </thead>
              <tbody>
                {shown.map((one) => (
                  <Row
                    key={one.endpointId}
                    endpoint={one}
                    attemptsOf={(outcome) =>
                      attemptsPath(
                        outcome,
                        spanName,
                        overview.attempts.capped ? overview.attempts.since : null,
                        one.endpointId,
                      )}
                  />
                ))}
              </tbody>
            </table>
          </div>
        )}
    </section>
  )
}

function Row({ endpoint: { endpointId, status, breaker, failingSince, ...numbers }, attemptsOf }: {
  endpoint: Overview['busiest'][number]
  attemptsOf(outcome: string): string
}): JSX.Element {
  const deliveriesOf = (which: string): string =>
    `/events?view=deliveries&status=${which}&endpoint=${endpointId}`
  return (
    <tr>
      <td>
        <EndpointName id={endpointId} />
      </td>
      <td>
        <EndpointBadge status={status} breaker={breaker} />
      </td>
      <td class='num'>
        <Counted n={numbers.delivered} what='delivered' to={attemptsOf('delivered')} />
      </td>
      <td class={numbers.failed > 0 ? 'num bad-text' : 'num'}>
        <Counted n={numbers.failed} what='failed' to={attemptsOf('failed')} />
      </td>
      <td class='num'>
        <Counted n={numbers.open} what='open' to={deliveriesOf('open')} />
      </td>
      <td class='num'>
        <Counted n={numbers.inFlight} what='in flight' to={deliveriesOf('processing')} />
      </td>
      <td>{failingSince === null ? '' : <Ago at={failingSince} />}</td>
    </tr>
  )
}

/** A number that leads to its list, unless the list would be empty. */
function Counted({ n, what, to }: { n: number; what: string; to: string }): JSX.Element {
  const text = number(n)
  return n === 0 ? <>{text}</> : (
    <Link to={to}>
      {text}
      <span class='hidden'>{` ${what}`}</span>
    </Link>
  )
}
