/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { api } from '../app/api.ts'
import { everyMs, useLive } from '../app/data.ts'
import { number } from '../app/format.ts'
import { orgOf, setQuery, usePlace } from '../app/location.ts'
import { hasKey, may } from '../app/session.ts'
import { sqlLiteral } from '../app/sql_literal.ts'
import { BarChart, type Bars } from '../parts/chart.tsx'
import { CopyCommands } from '../parts/copy_commands.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Read } from '../parts/state.tsx'
import { EndpointBadge } from '../parts/status.tsx'
import { Ago, EndpointName } from '../parts/value.tsx'
import { type Finding, findingsOf, type Overview } from './findings.ts'
import { FirstEndpoint } from './first_endpoint.tsx'
import { Numbers } from './numbers.tsx'

const spans = [['hour', 60], ['day', 1440], ['week', 10_080]] as const

/** What happens now, in one look. */
export function OverviewPage(): JSX.Element {
  const chosen = usePlace().query.get('span') ?? 'hour'
  const [name, minutes] = spans.find(([one]) => one === chosen) ?? spans[0]
  const overview = useLive(
    ['overview', minutes],
    (signal) => api.getOverview({ query: { minutes }, signal }),
    { every: minutes === 60 ? everyMs.live : everyMs.slow, keep: true },
  )
  const health = useLive(['health'], (signal) => api.getHealth({ signal }), {
    enabled: may('health:read'),
  })
  return (
    <>
      <div class='page-head'>
        <h1>Overview</h1>
        <div class='segments' role='group' aria-label='Span of the attempts'>
          {spans.map(([one]) => (
            <button
              key={one}
              type='button'
              aria-pressed={one === name}
              onClick={() => setQuery({ span: one === 'hour' ? null : one })}
            >
              Last {one}
            </button>
          ))}
        </div>
        <CopyCommands
          path={`/overview?minutes=${minutes}`}
          sql={`select outbox.get_org_overview(${sqlLiteral(orgOf(usePlace()))}, ${minutes});`}
        />
      </div>
      <Read of={overview}>
        {(data) =>
          data.endpoints.total === 0 ? <FirstEndpoint /> : (
            <>
              <Findings
                findings={findingsOf(health.data, data)}
                isKnown={health.data !== undefined}
              />
              <Numbers overview={data} spanName={name} />
              <Activity overview={data} />
              <Busiest overview={data} />
            </>
          )}
      </Read>
    </>
  )
}

function Findings({ findings, isKnown }: { findings: Finding[]; isKnown: boolean }): JSX.Element {
  if (findings.length === 0) {
    return (
      <p class='verdict good' role='status'>
        {isKnown
          ? 'All is well. Every endpoint takes its deliveries.'
          : 'No endpoint has a problem.'}
      </p>
    )
  }
  return (
    <section class='findings' aria-label='What needs attention'>
      {findings.map(({ tone, what, todo, to }) => (
        <div key={what} class={`finding ${tone}`}>
          <p>
            <strong>{what}</strong> {todo}
          </p>
          {to !== null && (to !== '/runs' || hasKey()) && (
            <Link to={to}>{to === '/runs' ? 'Show the runs' : 'Show them'}</Link>
          )}
        </div>
      ))}
    </section>
  )
}

function Activity({ overview }: { overview: Overview }): JSX.Element {
  const bars = useMemo(() => barsOf(overview), [overview])
  const { attempts } = overview
  return (
    <section class='card'>
      <div class='card-head'>
        <h2>Attempts</h2>
        <p class='legend'>
          <span class='key good' aria-hidden='true' /> delivered
          <span class='key bad' aria-hidden='true' /> failed
        </p>
      </div>
      <BarChart
        bars={bars}
        summary={`${number(attempts.delivered)} delivered and ${number(attempts.failed)} failed`}
      />
      {attempts.capped && (
        <p class='quiet'>
          The numbers start <Ago at={attempts.since} />: at most 10,000 attempts are counted.
        </p>
      )}
    </section>
  )
}

/** Sixty equal parts; the API leaves out those without attempts. */
function barsOf({ time, minutes, series }: Overview): Bars {
  const start = Date.parse(time) / 1000 - minutes * 60
  const parts = Array.from({ length: 61 }, (_, n) => start + n * minutes)
  const at = new Map(
    series.map((one) => [Math.round((Date.parse(one.at) / 1000 - start) / minutes), one]),
  )
  return {
    times: parts,
    delivered: parts.map((_, n) => at.get(n)?.delivered ?? 0),
    failed: parts.map((_, n) => at.get(n)?.failed ?? 0),
  }
}

function Busiest({ overview }: { overview: Overview }): JSX.Element {
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
                  <tr key={one.endpointId}>
                    <td>
                      <EndpointName id={one.endpointId} />
                    </td>
                    <td>
                      <EndpointBadge status={one.status} breaker={one.breaker} />
                    </td>
                    <td class='num'>{number(one.delivered)}</td>
                    <td class={one.failed > 0 ? 'num bad-text' : 'num'}>{number(one.failed)}</td>
                    <td class='num'>{number(one.open)}</td>
                    <td class='num'>{number(one.inFlight)}</td>
                    <td>{one.failingSince === null ? '' : <Ago at={one.failingSince} />}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
    </section>
  )
}
