/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { api, asFailure } from '../app/api.ts'
import { everyMs, useEndpoint, useLive } from '../app/data.ts'
import { count, number, share, span, visible } from '../app/format.ts'
import { Allowed } from '../app/allowed.tsx'
import { may } from '../app/session.ts'
import { ActionButton, Confirm } from '../parts/action.tsx'
import { CopyCommands } from '../parts/copy_commands.tsx'
import { later } from '../parts/later.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Read } from '../parts/state.tsx'
import { EndpointBadge } from '../parts/status.tsx'
import { Ago, Fact, Foreign, Time } from '../parts/value.tsx'
import { Schedule } from './schedule.tsx'
import { Settings } from './settings.tsx'
import { WaitingNow } from './waiting.tsx'
import { TestEvent } from './test_event.tsx'

type Endpoint = Output<'getEndpoint'>

const SpanReplay = later(async () => (await import('./span_replay.tsx')).SpanReplay)
const SecretCard = later(async () => (await import('./secret.tsx')).SecretCard)

/** One endpoint: health, actions and settings. */
export function EndpointPage({ id }: { id: string }): JSX.Element {
  const endpoint = useEndpoint(id, everyMs.list)
  const isMissing = endpoint.isError && [400, 404].includes(asFailure(endpoint.error).status)
  if (isMissing && endpoint.data === undefined) {
    return (
      <Empty isPage title='There is no such endpoint'>
        <p>
          <Link to='/endpoints'>All endpoints</Link>
        </p>
      </Empty>
    )
  }
  return (
    <Read of={endpoint}>
      {(one) => (
        <>
          <nav class='trail' aria-label='Trail'>
            <Link to='/endpoints'>Endpoints</Link>
          </nav>
          <div class='page-head'>
            <h1 class='url'>
              <Foreign text={one.url === '' ? one.kind : one.url} />
            </h1>
            <EndpointBadge status={one.status} breaker={one.breaker.status} />
            <CopyCommands
              id={one.id}
              path={`/endpoints/${one.id}`}
              sql={`select * from outbox.endpoint_status where id = '${one.id}';`}
            />
          </div>
          {one.statusReason !== null && <p class='hint'>{visible(one.statusReason)}</p>}
          <Actions endpoint={one} />
          <Health endpoint={one} />
          <div class='columns'>
            <Settings endpoint={one} />
            <div class='stack'>
              <Schedule endpoint={one} />
              {one.kind === 'webhook' && may('secrets:read') && <SecretCard endpoint={one} />}
            </div>
          </div>
        </>
      )}
    </Read>
  )
}

function Actions({ endpoint }: { endpoint: Endpoint }): JSX.Element {
  const [isPausing, setPausing] = useState(false)
  const [isReplaying, setReplaying] = useState(false)
  const path = { endpointId: endpoint.id }
  const isEnabled = endpoint.status === 'enabled'
  return (
    <div class='row'>
      <Allowed to='endpoints:write'>
        {isEnabled
          ? <button type='button' onClick={() => setPausing(true)}>Pause</button>
          : <ActionButton label='Resume' main act={() => api.resumeEndpoint({ path })} />}
        {isEnabled && <TestEvent endpointId={endpoint.id} />}
      </Allowed>
      <Allowed to='deliveries:read'>
        <Link to={`/events?view=deliveries&endpoint=${endpoint.id}`} class='button'>
          Deliveries
        </Link>
        <Link to={`/events?view=attempts&endpoint=${endpoint.id}`} class='button'>Attempts</Link>
        <Link to={`/dead-letters?endpoint=${endpoint.id}`} class='button'>Dead letters</Link>
        {may('deliveries:replay') && (
          <button type='button' onClick={() => setReplaying(true)}>Replay a span …</button>
        )}
      </Allowed>
      {isReplaying && <SpanReplay endpointId={endpoint.id} onClose={() => setReplaying(false)} />}
      {isPausing && <Pause endpoint={endpoint} onClose={() => setPausing(false)} />}
    </div>
  )
}

function Pause({ endpoint, onClose }: { endpoint: Endpoint; onClose(): void }): JSX.Element {
  const [reason, setReason] = useState('')
  const path = { endpointId: endpoint.id }
  const body = reason === '' ? {} : { reason }
  return (
    <Confirm
      title='Pause this endpoint?'
      label='Pause'
      act={() => api.pauseEndpoint({ path, body })}
      onClose={onClose}
    >
      <p>Its deliveries are held, and none is lost. Resume it to send them in their order.</p>
      <WaitingNow endpointId={endpoint.id} />
      <label class='field'>
        Reason, which everybody sees here
        <input
          value={reason}
          maxLength={500}
          placeholder='The receiver is being rebuilt'
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </label>
    </Confirm>
  )
}

function Health({ endpoint }: { endpoint: Endpoint }): JSX.Element {
  const stats = useLive(
    ['stats', endpoint.id],
    (signal) => api.getEndpointStats({ path: { endpointId: endpoint.id }, signal }),
  )
  return (
    <Read of={stats}>
      {({ attempts, open, inFlight, deadLetters, failuresRunning, failingSince, probeAt }) => (
        <>
          {failingSince !== null && (
            <p class='finding bad'>
              <span>
                <strong>
                  No attempt was delivered since <Time at={failingSince} />
                  {failuresRunning > 1 && `: ${count(failuresRunning, 'failure')} in a row`}.
                </strong>{' '}
                {probeAt === null ? 'Open a delivery to see the response.' : (
                  <>
                    The breaker is open. The next probe is <Ago at={probeAt} />.
                  </>
                )}
              </span>
            </p>
          )}
          <dl class='tiles'>
            <div class='tile'>
              <dt>Success rate of a day</dt>
              <dd>
                {share(attempts.delivered, attempts.total)}
                <small>
                  {number(attempts.delivered)} delivered, {number(attempts.failed)} failed
                </small>
              </dd>
            </div>
            <div class='tile'>
              <dt>Response time</dt>
              <dd>
                {attempts.p50Ms === null ? 'none' : span(attempts.p50Ms)}
                <small>
                  {attempts.p95Ms === null ? 'no attempt' : `p95 ${span(attempts.p95Ms)}`}
                </small>
              </dd>
            </div>
            <div class='tile'>
              <dt>Backlog</dt>
              <dd>
                {number(open)}
                <small>{number(inFlight)} in flight</small>
              </dd>
            </div>
            <div class='tile'>
              <dt>Dead letters</dt>
              <dd>
                {number(deadLetters)}
                <small>wait for a decision</small>
              </dd>
            </div>
            <div class='tile'>
              <dt>Last attempt</dt>
              <dd>
                {attempts.lastAt === null ? 'none' : <Ago at={attempts.lastAt} />}
                <small>{attempts.lastAt !== null && <Time at={attempts.lastAt} />}</small>
              </dd>
            </div>
          </dl>
        </>
      )}
    </Read>
  )
}

/** The settings that cannot be changed here. */
export function FixedFacts({ endpoint }: { endpoint: Endpoint }): JSX.Element {
  return (
    <dl class='facts'>
      <Fact name='Kind'>{visible(endpoint.kind)}</Fact>
      <Fact name='Order'>
        {endpoint.ordering === 'none' ? 'none' : `by ${endpoint.ordering}`}
      </Fact>
      <Fact name='Id'>
        <Foreign text={endpoint.id} mono />
      </Fact>
      <Fact name='Changed'>
        <Time at={endpoint.updatedAt} />
      </Fact>
    </dl>
  )
}
