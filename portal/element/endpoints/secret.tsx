/** @jsxImportSource preact */

import { useQueryClient } from '@tanstack/preact-query'
import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { everyMs, useRead } from '../app/data.ts'
import { newKey } from '../../../console/page/app/new_key.ts'
import { Confirm } from '../parts/action.tsx'
import { Code } from '../parts/copy.tsx'
import { Read } from '../parts/state.tsx'
import { Time } from '../parts/value.tsx'

type Secrets = Output<'getEndpointSecret'>

/** The secret of an endpoint, shown on demand, and its rotation. */
export function Secret({ endpointId }: { endpointId: string }): JSX.Element {
  const { can, client, words: { t } } = usePortal()
  const [isShown, setShown] = useState(false)
  const [isRotating, setRotating] = useState(false)
  const [rotated, setRotated] = useState<Secrets | null>(null)
  const queries = useQueryClient()
  const secret = useRead(
    ['secret', endpointId],
    (signal) => client.getEndpointSecret({ path: { endpointId }, signal }),
    { enabled: isShown && can('secrets:read'), every: isShown ? everyMs.list : false },
  )
  const hide = (): void => {
    setShown(false)
    setRotated(null)
    queries.removeQueries({ queryKey: ['secret', endpointId] })
  }
  return (
    <section class='stack' aria-labelledby='secret-title'>
      <h3 id='secret-title'>{t('secret')}</h3>
      <p>{t('secretHint')}</p>
      <div class='row'>
        {can('secrets:read') && (
          <button
            type='button'
            part='button'
            onClick={isShown ? hide : () => setShown(true)}
          >
            {t(isShown ? 'hideSecret' : 'showSecret')}
          </button>
        )}
        {can('secrets:write') && (
          <button
            type='button'
            part='button'
            onClick={() => setRotating(true)}
          >
            {t('rotate')}
          </button>
        )}
      </div>
      {isShown && can('secrets:read')
        ? (
          <Read of={secret}>
            {(one) => <Shown endpointId={endpointId} secrets={one} onEnded={setRotated} />}
          </Read>
        )
        : rotated !== null && (
          <Shown endpointId={endpointId} secrets={rotated} onEnded={setRotated} />
        )}
      {isRotating && (
        <Rotate
          endpointId={endpointId}
          onRotated={(next) => {
            setRotated(next)
            setShown(can('secrets:read'))
          }}
          onClose={() => setRotating(false)}
        />
      )}
    </section>
  )
}

function Shown({ endpointId, secrets: all, onEnded }: {
  endpointId: string
  secrets: Secrets
  onEnded(secrets: Secrets): void
}): JSX.Element {
  const { can, words: { t } } = usePortal()
  const [ending, setEnding] = useState<string | null>(null)
  const { secret, publicKey, secrets } = all
  const old = secrets.filter(({ expiresAt }) => expiresAt !== null)
  return (
    <>
      {secret !== undefined && <Code text={secret} name={t('secret')} />}
      {publicKey !== null && <Code text={publicKey} name={t('publicKey')} />}
      {old.map(({ id, expiresAt }) => (
        <p key={id} class='row'>
          <span>
            {t('oldSecretUntil')} <Time at={expiresAt ?? ''} />
          </span>
          {can('secrets:write') && (
            <button
              type='button'
              part='button'
              onClick={() => setEnding(id)}
            >
              {t('endOldSecret')}
            </button>
          )}
        </p>
      ))}
      {ending !== null && (
        <End
          endpointId={endpointId}
          secretId={ending}
          // The text of the secret is not part of the answer.
          onEnded={(next) => onEnded({ ...all, secrets: next.secrets })}
          onClose={() => setEnding(null)}
        />
      )}
    </>
  )
}

const overlaps = [
  [86_400, 'overlapDay'],
  [604_800, 'overlapWeek'],
  [3600, 'overlapHour'],
  [0, 'overlapNone'],
] as const

function Rotate({ endpointId, onRotated, onClose }: {
  endpointId: string
  onRotated(secrets: Secrets): void
  onClose(): void
}): JSX.Element {
  const { client, words: { t } } = usePortal()
  const [overlap, setOverlap] = useState(86_400)
  // One key for all clicks with one choice, so that a repeat after a lost response rotates once.
  const idempotencyKey = useMemo(newKey, [overlap])
  return (
    <Confirm
      title={t('rotateTitle')}
      label={t('rotate')}
      danger={overlap === 0}
      onClose={onClose}
      act={async () => {
        const body = { overlapSeconds: overlap }
        const path = { endpointId }
        onRotated(await client.rotateEndpointSecret({ path, body, idempotencyKey }))
      }}
    >
      <p>{t('rotateHint')}</p>
      <label class='field'>
        {t('overlap')}
        <select
          part='input'
          value={overlap}
          onChange={(event) => setOverlap(Number(event.currentTarget.value))}
        >
          {overlaps.map(([seconds, key]) => <option key={key} value={seconds}>{t(key)}</option>)}
        </select>
      </label>
      {overlap === 0 && <p class='bad-text'>{t('overlapNoneHint')}</p>}
    </Confirm>
  )
}

function End({ endpointId, secretId, onEnded, onClose }: {
  endpointId: string
  secretId: string
  onEnded(secrets: Output<'expireEndpointSecret'>): void
  onClose(): void
}): JSX.Element {
  const { client, words: { t } } = usePortal()
  return (
    <Confirm
      title={t('endOldSecretTitle')}
      label={t('endOldSecret')}
      danger
      act={async () =>
        onEnded(await client.expireEndpointSecret({ path: { endpointId, secretId } }))}
      onClose={onClose}
    >
      <p>{t('endOldSecretHint')}</p>
    </Confirm>
  )
}
