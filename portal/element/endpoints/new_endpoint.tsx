/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { newKey } from '../../../console/page/app/new_key.ts'
import { Dialog } from '../../../console/page/parts/dialog.tsx'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { useAction } from '../app/data.ts'
import { Code } from '../parts/copy.tsx'
import { Go } from '../parts/go.tsx'
import { EndpointForm } from './endpoint_form.tsx'
import { emptyFields, newEndpoint } from './fields.ts'

/** A new endpoint: where, for what, and then its secret. */
export function NewEndpoint(): JSX.Element {
  const { can, client, router, words: { t } } = usePortal()
  const [fields, setFields] = useState(emptyFields)
  const [made, setMade] = useState<Output<'createEndpoint'> | null>(null)
  // One key for all clicks of this form, so that a repeat after a lost response creates one endpoint.
  const [attempt, setAttempt] = useState({ body: '', key: '' })
  const action = useAction(async () => {
    const body = newEndpoint(fields)
    const text = JSON.stringify(body)
    const key = attempt.body === text ? attempt.key : newKey()
    setAttempt({ body: text, key })
    setMade(await client.createEndpoint({ body, idempotencyKey: key }))
  })
  const leave = (): void => {
    if (made !== null) router.go(`endpoints/${made.id}/signature`)
  }
  return (
    <section aria-labelledby='new-title'>
      <p class='trail'>
        <Go to='endpoints'>{t('allEndpoints')}</Go>
      </p>
      <h2 id='new-title'>{t('addEndpoint')}</h2>
      <EndpointForm fields={fields} onChange={setFields} action={action} label={t('create')} />
      {made !== null && (
        <Dialog title={t('created')} closeLabel={t('close')} onClose={leave}>
          <div class='stack'>
            {made.secret !== undefined && (
              <>
                <p>{t(can('secrets:read') ? 'createdHint' : 'createdOnce')}</p>
                <Code text={made.secret} name={t('secret')} />
              </>
            )}
            <div class='row end'>
              <button type='button' part='button' class='primary' onClick={leave}>
                {t('continue')}
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </section>
  )
}
