/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { api } from '../app/api.ts'
import { useLive } from '../app/data.ts'
import { count, number, pace, share, span } from '../app/format.ts'
import { hasKey, may } from '../app/session.ts'
import { Link } from '../parts/link.tsx'
import { Ago } from '../parts/value.tsx'
import { attemptsPath } from './attempts_path.ts'
import type { Overview } from './findings.ts'

/** The numbers of the overview. Each leads to the list of what it counts. */
export function Numbers({ overview, spanName }: {
  overview: Overview
  /** The span in the addresses of the lists. */
  spanName: string
}): JSX.Element {
  const { attempts, latency, events, endpoints } = overview
  const attemptsOf = (outcome: string): string =>
    attemptsPath(outcome, spanName, attempts.capped ? attempts.since : null)
  const counted = attempts.capped && (
    <small>
      counted since <Ago at={attempts.since} />
    </small>
  )
  const deliveries = '/events?view=deliveries&status='
  return (
    <dl class='tiles four'>
      <Tile name='Events' to={may('events:read') ? `/events?span=${spanName}` : null}>
        {number(events.total)}
        {events.capped && '+'}
        <small>{paceOf(events.total, events.since, overview.time)}</small>
      </Tile>
      <Tile name='Delivered' to={attemptsOf('delivered')}>
        {number(attempts.delivered)}
        {attempts.capped && '+'}
        <small>{paceOf(attempts.delivered, attempts.since, overview.time)}</small>
        {counted}
      </Tile>
      <Tile name='Success rate' to={attemptsOf('failed')}>
        {share(attempts.delivered, attempts.total)}
        <small>{count(attempts.failed, 'failed attempt')}</small>
        {counted}
      </Tile>
      <Tile name='Event to delivery' to={attemptsOf('delivered')}>
        {latency.p50Ms === null ? 'none' : span(latency.p50Ms)}
        <small>
          {latency.p95Ms === null || latency.p99Ms === null
            ? 'nothing was delivered'
            : `p95 ${span(latency.p95Ms)} · p99 ${span(latency.p99Ms)}`}
        </small>
        {counted}
      </Tile>
      <Tile name='Backlog' to={`${deliveries}open`}>
        {number(overview.open)}
        <small>
          {overview.oldestDueAt === null ? 'nothing is due' : (
            <>
              oldest due <Ago at={overview.oldestDueAt} />
            </>
          )}
        </small>
      </Tile>
      <Tile name='In flight' to={`${deliveries}processing`}>
        {number(overview.inFlight)}
        <small>requests now</small>
      </Tile>
      <Tile name='Retries due' to={`${deliveries}retrying&due=hour`}>
        {number(overview.retriesDue.total)}
        {overview.retriesDue.capped && '+'}
        <small>in the next hour</small>
      </Tile>
      <Tile name='Dead letters' to='/dead-letters'>
        {atMost(overview.deadLetters, 10_000)}
        <small>wait for a decision</small>
      </Tile>
      <Tile name='Failing endpoints' to={endpointsOf('failing')}>
        {number(endpoints.failing)}
        <small>the last attempt failed</small>
      </Tile>
      <Tile name='Open breakers' to={endpointsOf('breaker_open')}>
        {number(endpoints.breakersOpen)}
        <small>or half-open</small>
      </Tile>
      <Tile name='Held endpoints' to={endpointsOf('held')}>
        {number(endpoints.paused + endpoints.disabled)}
        <small>paused or disabled</small>
      </Tile>
      {hasKey() && <Alive />}
    </dl>
  )
}

function endpointsOf(show: string): string | null {
  return may('endpoints:read') ? `/endpoints?show=${show}` : null
}

/** Needs the secret key: runs belong to the project. */
function Alive(): JSX.Element {
  const runs = useLive(['runs'], (signal) => api.listRuns({ signal }))
  const { alive, problems = [] } = runs.data ?? {}
  return (
    <Tile name='Runs' to='/runs'>
      {alive === undefined ? 'unknown' : number(alive.runs + alive.workers)}
      <small>
        {alive === undefined
          ? 'not read yet'
          : problems.length > 0
          ? count(problems.length, 'problem')
          : alive.runs + alive.workers === 0
          ? 'the next event starts a run'
          : `${count(alive.runs, 'edge run')}, ${count(alive.workers, 'worker')} alive`}
      </small>
    </Tile>
  )
}

function Tile({ name, to, children }: {
  name: string
  /** The list behind the number; null if the session may not read it. */
  to: string | null
  children: ComponentChildren
}): JSX.Element {
  return (
    <div class='tile'>
      <dt>{to === null ? name : <Link to={to}>{name}</Link>}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** A number that is counted up to a bound, as `1,000+` if it is there. */
export function atMost(value: number, most: number): string {
  return value >= most ? `${number(most)}+` : number(value)
}

function paceOf(total: number, since: string, until: string): string {
  const seconds = (Date.parse(until) - Date.parse(since)) / 1000
  return pace(total, seconds)
}
