/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { visible } from '../../../console/page/app/format.ts'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { useRead } from '../app/data.ts'
import { asFailure } from '../app/failure.ts'
import { DeliveriesOf } from '../deliveries/deliveries.tsx'
import { Replay } from '../deliveries/replay.tsx'
import { ActionButton } from '../parts/action.tsx'
import { Go } from '../parts/go.tsx'
import { Read } from '../parts/state.tsx'
import { addressOf, EndpointBadge, Foreign } from '../parts/value.tsx'
import { EndpointSettings } from './endpoint_settings.tsx'
import { Health } from './health.tsx'
import { Signature } from './signature.tsx'
import { TestEvent } from './test_event.tsx'

type Endpoint = Output<'getEndpoint'>

/** One endpoint: what it got, its signature, its settings. `part`: what a tab shows, such as a job. */
export function EndpointView({ id, tab, part }: {
  id: string
  tab: string
  part: string | null
}): JSX.Element {
  const { client, words: { t } } = usePortal()
  const endpoint = useRead(
    ['endpoint', id],
    (signal) => client.getEndpoint({ path: { endpointId: id }, signal }),
  )
  const status = asFailure(endpoint.error)?.status ?? 0
  if (endpoint.isError && (status === 400 || status === 404)) {
    return (
      <div class='empty'>
        <h2>{t('noEndpoint')}</h2>
        <Go to='endpoints'>{t('allEndpoints')}</Go>
      </div>
    )
  }
  return (
    <section>
      <p class='trail'>
        <Go to='endpoints'>{t('allEndpoints')}</Go>
      </p>
      <Read of={endpoint}>{(one) => <One endpoint={one} tab={tab} part={part} />}</Read>
    </section>
  )
}

function One({ endpoint, tab, part }: {
  endpoint: Endpoint
  tab: string
  part: string | null
}): JSX.Element {
  const { can, client, words: { t } } = usePortal()
  const path = { endpointId: endpoint.id }
  const isEnabled = endpoint.status === 'enabled'
  const tabs = [
    ['', t('deliveries'), can('deliveries:read')],
    ['signature', t('signature'), endpoint.kind === 'webhook'],
    ['settings', t('settings'), can('endpoints:write')],
    ['replay', t('replayFailed'), can('deliveries:replay') && can('deliveries:read')],
  ] as const
  const shown = tabs.filter(([, , isShown]) => isShown)
  const open = shown.find(([name]) => name === tab)?.[0] ?? shown[0]?.[0]
  return (
    <>
      <div class='head'>
        <h2 class='address'>
          <Foreign text={addressOf(endpoint)} />
        </h2>
        <EndpointBadge endpoint={endpoint} />
      </div>
      {endpoint.description !== '' && (
        <p class='quiet'>
          <Foreign text={endpoint.description} />
        </p>
      )}
      {endpoint.statusReason !== null && endpoint.status === 'paused' && (
        <p class='hint'>{visible(endpoint.statusReason)}</p>
      )}
      {can('endpoints:write') && (
        <div class='row actions'>
          {isEnabled && <TestEvent endpointId={endpoint.id} />}
          {isEnabled
            ? (
              <ActionButton
                label={t('pause')}
                act={() => client.pauseEndpoint({ path, body: {} })}
              />
            )
            : (
              <ActionButton
                label={t('resume')}
                primary
                act={() => client.resumeEndpoint({ path })}
              />
            )}
        </div>
      )}
      {!isEnabled && <p class='hint'>{t('notEnabledHint')}</p>}
      <Health endpointId={endpoint.id} />
      {shown.length > 1 && (
        <nav class='tabs inner' aria-label={t('partsOfEndpoint')}>
          {shown.map(([name, label]) => (
            <Go
              key={name}
              to={`endpoints/${endpoint.id}${name === '' ? '' : `/${name}`}`}
              class='tab'
              current={name === open}
            >
              {label}
            </Go>
          ))}
        </nav>
      )}
      {open === '' && <DeliveriesOf endpointId={endpoint.id} />}
      {open === 'signature' && <Signature endpoint={endpoint} />}
      {open === 'settings' && <EndpointSettings endpoint={endpoint} />}
      {open === 'replay' && <Replay endpointId={endpoint.id} jobId={part} />}
    </>
  )
}
