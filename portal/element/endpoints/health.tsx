/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { usePortal } from '../app/context.ts'
import { Read } from '../parts/state.tsx'
import { Ago } from '../parts/value.tsx'
import { useStats } from './stats.ts'

/** How an endpoint has answered in the last day, and what waits for it. */
export function Health({ endpointId }: { endpointId: string }): JSX.Element {
  const { words: { n, share, span, t } } = usePortal()
  const stats = useStats(endpointId)
  return (
    <Read of={stats}>
      {({ attempts, open, deadLetters }) => (
        <dl class='tiles'>
          <Tile name={t('successRate')}>
            {share(attempts.delivered, attempts.total)}
            <small>
              {t('deliveredN', { n: n(attempts.delivered) })},{' '}
              {t('failedN', { n: n(attempts.failed) })}
            </small>
          </Tile>
          <Tile name={t('responseTime')}>
            {attempts.p50Ms === null ? t('none') : span(attempts.p50Ms)}
            <small>{attempts.p95Ms !== null && `p95 ${span(attempts.p95Ms)}`}</small>
          </Tile>
          <Tile name={t('waiting')}>
            {n(open)}
            <small>{t('gaveUpN', { n: n(deadLetters) })}</small>
          </Tile>
          <Tile name={t('lastAttempt')}>
            {attempts.lastAt === null ? t('none') : <Ago at={attempts.lastAt} />}
          </Tile>
        </dl>
      )}
    </Read>
  )
}

function Tile({ name, children }: { name: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class='tile' part='tile'>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
