/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { useAction } from '../app/data.ts'
import { Confirm } from '../parts/action.tsx'
import { addressOf, Foreign } from '../parts/value.tsx'
import { EndpointForm } from './endpoint_form.tsx'
import { changeOf, fieldsOf } from './fields.ts'
import { useStats } from './stats.ts'

type Endpoint = Output<'getEndpoint'>

/** Changes an endpoint, and deletes it. */
export function EndpointSettings({ endpoint }: { endpoint: Endpoint }): JSX.Element {
  const { client, words: { t } } = usePortal()
  // What the form began with. It stays while somebody types, whatever is read in the meantime.
  const [base, setBase] = useState(endpoint)
  const [fields, setFields] = useState(() => fieldsOf(base))
  const [isSaved, setSaved] = useState(false)
  const [isDeleting, setDeleting] = useState(false)
  const change = changeOf(fields, base)
  const isChanged = Object.keys(change).length > 0
  const begin = (from: Endpoint): void => {
    setBase(from)
    setFields(fieldsOf(from))
  }
  const isOutdated = endpoint.version > base.version
  useEffect(() => {
    if (isOutdated && !isChanged) begin(endpoint)
  }, [isOutdated, isChanged])
  const action = useAction(async () => {
    setSaved(false)
    // Somebody else's change in the meantime is not overwritten.
    begin(
      await client.updateEndpoint({
        path: { endpointId: base.id },
        body: change,
        ifMatch: `"${base.version}"`,
      }),
    )
    setSaved(true)
  })
  return (
    <div class='stack wide-gap'>
      <EndpointForm
        fields={fields}
        onChange={(next) => {
          setSaved(false)
          setFields(next)
        }}
        action={action}
        label={t('save')}
        isUrl={['webhook', 'slack'].includes(endpoint.kind)}
      >
        {isChanged && (
          <button type='button' part='button' onClick={() => begin(endpoint)}>{t('undo')}</button>
        )}
        {isSaved && !isChanged && <span role='status'>{t('saved')}</span>}
      </EndpointForm>
      {isOutdated && isChanged && <p class='hint' role='status'>{t('changedElsewhere')}</p>}
      <section class='stack danger-zone' aria-labelledby='delete-title'>
        <h3 id='delete-title'>{t('deleteEndpoint')}</h3>
        <p>{t('deleteHint')}</p>
        <div>
          <button type='button' part='button' class='danger' onClick={() => setDeleting(true)}>
            {t('deleteEndpoint')}
          </button>
        </div>
      </section>
      {isDeleting && <Delete endpoint={endpoint} onClose={() => setDeleting(false)} />}
    </div>
  )
}

function Delete({ endpoint, onClose }: { endpoint: Endpoint; onClose(): void }): JSX.Element {
  const { client, router, words: { t } } = usePortal()
  const { data } = useStats(endpoint.id)
  const [typed, setTyped] = useState('')
  const name = nameOf(endpoint)
  return (
    <Confirm
      title={t('deleteTitle')}
      label={t('deleteEndpoint')}
      danger
      isReady={typed === name}
      act={async () => {
        await client.deleteEndpoint({ path: { endpointId: endpoint.id } })
        router.go('endpoints')
      }}
      onClose={onClose}
    >
      <p>
        <Foreign text={addressOf(endpoint)} />
      </p>
      <p>
        {t('deleteEffect')} {data !== undefined && t('deleteWaiting', { n: data.open })}
      </p>
      <label class='field'>
        {t('typeToConfirm', { name })}
        <input
          part='input'
          value={typed}
          spellcheck={false}
          autocomplete='off'
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
    </Confirm>
  )
}

/** What is typed to confirm: the host, which is short enough. */
function nameOf(endpoint: Endpoint): string {
  return URL.canParse(endpoint.url) ? new URL(endpoint.url).host : endpoint.kind
}
