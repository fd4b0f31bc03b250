/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { everyMs, queryClient, useLive } from '../app/data.ts'
import { Allowed } from '../app/allowed.tsx'
import { newKey } from '../app/new_key.ts'
import { Confirm } from '../parts/action.tsx'
import { Copy } from '../parts/copy.tsx'
import { Read } from '../parts/state.tsx'
import { Time } from '../parts/value.tsx'
import { WaitingNow } from './waiting.tsx'

type Endpoint = Output<'getEndpoint'>

/** The name by which an action without a way back is confirmed. */
function hostOf({ url, id }: Endpoint): string {
  return URL.canParse(url) ? new URL(url).host : id
}

/** The signing secrets of an endpoint: shown on demand, rotated with an overlap. */
export function SecretCard({ endpoint }: { endpoint: Endpoint }): JSX.Element {
  const endpointId = endpoint.id
  const [isShown, setShown] = useState(false)
  const [isRotating, setRotating] = useState(false)
  const [expiring, setExpiring] = useState<string | null>(null)
  const path = { endpointId }
  const secret = useLive(
    ['secret', endpointId],
    (signal) => api.getEndpointSecret({ path, signal }),
    { enabled: isShown, every: isShown ? everyMs.list : false },
  )
  const toggle = (): void => {
    // A hidden secret does not stay in the page.
    queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey.includes('secret') })
    setShown(!isShown)
  }
  return (
    <section class='card' aria-label='Signing secret'>
      <h2>Signing secret</h2>
      <div class='row'>
        <button type='button' onClick={toggle}>{isShown ? 'Hide secret' : 'Show secret'}</button>
        <Allowed to='secrets:write'>
          <button type='button' onClick={() => setRotating(true)}>Rotate secret</button>
        </Allowed>
      </div>
      {isShown && (
        <Read of={secret}>
          {({ secret: text, publicKey, secrets }) => (
            <>
              {text !== undefined && <Value text={text} name='secret' />}
              {publicKey !== null && <Value text={publicKey} name='public key' />}
              {secrets.filter(({ expiresAt }) => expiresAt !== null).map((one) => (
                <p key={one.id} class='row'>
                  <span>
                    An older one also signs until <Time at={one.expiresAt ?? ''} />
                  </span>
                  <Allowed to='secrets:write'>
                    <button
                      type='button'
                      class='danger'
                      onClick={() =>
                        setExpiring(one.id)}
                    >
                      Expire it now
                    </button>
                  </Allowed>
                </p>
              ))}
            </>
          )}
        </Read>
      )}
      {expiring !== null && (
        <Confirm
          title='Expire the old secret now?'
          label='Expire it'
          danger
          typed={hostOf(endpoint)}
          act={() => api.expireEndpointSecret({ path: { endpointId, secretId: expiring } })}
          onClose={() => setExpiring(null)}
        >
          <p>Receivers that still use it refuse all requests from then on. There is no way back.</p>
          <WaitingNow endpointId={endpointId} />
        </Confirm>
      )}
      {isRotating && <Rotate endpoint={endpoint} onClose={() => setRotating(false)} />}
    </section>
  )
}

function Value({ text, name }: { text: string; name: string }): JSX.Element {
  return (
    <div class='snippet'>
      <code>{text}</code>
      <Copy text={text} label={`Copy ${name}`} />
    </div>
  )
}

function Rotate({ endpoint, onClose }: { endpoint: Endpoint; onClose(): void }): JSX.Element {
  const endpointId = endpoint.id
  const [overlap, setOverlap] = useState(86_400)
  // One key for all clicks with one choice, so that a repeat after a lost response rotates once.
  const idempotencyKey = useMemo(newKey, [overlap])
  return (
    <Confirm
      title='Rotate the secret?'
      label='Rotate'
      danger={overlap === 0}
      typed={overlap === 0 ? hostOf(endpoint) : undefined}
      act={() =>
        api.rotateEndpointSecret({
          ...{ path: { endpointId }, body: { overlapSeconds: overlap }, idempotencyKey },
        })}
      onClose={onClose}
    >
      <p>
        {overlap === 0
          ? 'Each request is signed with the new secret alone. There is no way back.'
          : 'Each request is signed with both secrets until the old one ends.'}
      </p>
      {overlap === 0 && <WaitingNow endpointId={endpointId} />}
      <label class='field'>
        The old secret ends
        <select value={overlap} onChange={(event) => setOverlap(Number(event.currentTarget.value))}>
          <option value={86_400}>in 24 hours</option>
          <option value={604_800}>in 7 days</option>
          <option value={3600}>in 1 hour</option>
          <option value={0}>now: its receiver refuses all requests from then on</option>
        </select>
      </label>
    </Confirm>
  )
}
