/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { newKey } from '../app/new_key.ts'
import { useAction } from '../parts/action.tsx'
import { Copy } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Link } from '../parts/link.tsx'
import { Problem } from '../parts/state.tsx'
import { Fields } from './fields.tsx'
import { type FormErrors, type NewFields, readNew } from './form_schema.ts'

type Created = Output<'createEndpoint'>

/** Creates an endpoint, then shows its secret. */
export function NewEndpoint({ onClose }: { onClose(): void }): JSX.Element {
  const [created, setCreated] = useState<Created | null>(null)
  return (
    <Dialog title={created === null ? 'New endpoint' : 'The endpoint is created'} onClose={onClose}>
      {created === null ? <Form onCreated={setCreated} onClose={onClose} /> : <Done of={created} />}
    </Dialog>
  )
}

function Form({ onCreated, onClose }: {
  onCreated(created: Created): void
  onClose(): void
}): JSX.Element {
  const [fields, setFields] = useState<NewFields>({
    ...{ url: '', description: '', eventTypes: '', filter: '' },
  })
  const [errors, setErrors] = useState<FormErrors>({})
  const read = readNew(fields)
  // One key for all clicks with the same fields, so that a repeat after a lost response creates one.
  const idempotencyKey = useMemo(newKey, [JSON.stringify(fields)])
  const action = useAction(async () => {
    if (read.body !== null) onCreated(await api.createEndpoint({ body: read.body, idempotencyKey }))
  })
  const create = async (event: Event): Promise<void> => {
    event.preventDefault()
    setErrors(read.errors ?? {})
    if (read.errors === null) await action.run()
  }
  return (
    <form class='stack' onSubmit={(event) => void create(event)} noValidate>
      <p>It gets the events that are published from now on. All else can be set afterwards.</p>
      <Fields
        {...{ fields, errors }}
        onField={(name, value) => setFields({ ...fields, [name]: value })}
      />
      {action.error !== null && <Problem error={action.error} />}
      <div class='row end'>
        <button type='button' onClick={onClose}>Cancel</button>
        <button type='submit' class='primary' disabled={action.isRunning}>
          {action.isRunning ? 'Creating …' : 'Create endpoint'}
        </button>
      </div>
    </form>
  )
}

function Done({ of: { id, secret } }: { of: Created }): JSX.Element {
  return (
    <div class='stack'>
      {secret !== undefined && (
        <>
          <p>
            Its receiver verifies each request with this secret. The page of the endpoint has it,
            too.
          </p>
          <div class='snippet'>
            <code>{secret}</code>
            <Copy text={secret} label='Copy secret' />
          </div>
        </>
      )}
      <div class='row end'>
        <Link to={`/endpoints/${id}`} class='button'>Open the endpoint</Link>
      </div>
    </div>
  )
}
