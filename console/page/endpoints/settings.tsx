/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { may } from '../app/session.ts'
import { useAction } from '../parts/action.tsx'
import { Problem } from '../parts/state.tsx'
import { FixedFacts } from './endpoint.tsx'
import { Fields } from './fields.tsx'
import { HeaderRows } from './header_rows.tsx'
import { headerChangeOf, headerProblemOf, headerRowsOf, isOtherOrigin } from './headers.ts'
import { fieldsOf, type FormErrors, readForm } from './form_schema.ts'

type Endpoint = Output<'getEndpoint'>

const headerProblems = {
  nameless: 'Each header needs a name',
  twice: 'Two headers have the same name',
} as const

/** Other kinds of endpoints make requests of their own, or none. */
function hasHeaders({ kind, headerNames }: Endpoint): boolean {
  return kind === 'webhook' || headerNames.length > 0
}

/** The settings as a form. The API checks a change again before it is saved. */
export function Settings({ endpoint }: { endpoint: Endpoint }): JSX.Element {
  // What the form began with. It stays while somebody types, whatever is read in the meantime.
  const [base, setBase] = useState(endpoint)
  const [fields, setFields] = useState(() => fieldsOf(base))
  const [headers, setHeaders] = useState(() => headerRowsOf(base.headerNames))
  const [errors, setErrors] = useState<FormErrors>({})
  const [headerError, setHeaderError] = useState<string | null>(null)
  const read = readForm(fields, base)
  const headerChange = headerChangeOf(headers, base.headerNames)
  const isChanged = JSON.stringify(fields) !== JSON.stringify(fieldsOf(base)) ||
    headerChange !== undefined
  const begin = (from: Endpoint): void => {
    setBase(from)
    setFields(fieldsOf(from))
    setHeaders(headerRowsOf(from.headerNames))
    setErrors({})
    setHeaderError(null)
  }
  const isOutdated = endpoint.version > base.version
  useEffect(() => {
    if (isOutdated && !isChanged) begin(endpoint)
  }, [isOutdated, isChanged])
  const action = useAction(async () => {
    if (read.change === null) return
    // Somebody else's change in the meantime is not overwritten.
    begin(
      await api.updateEndpoint({
        path: { endpointId: base.id },
        body: { ...read.change, ...headerChange === undefined ? {} : { headers: headerChange } },
        ifMatch: `"${base.version}"`,
      }),
    )
  })
  const save = async (event: Event): Promise<void> => {
    event.preventDefault()
    const problem = headerProblemOf(headers)
    setErrors(read.errors ?? {})
    setHeaderError(problem === null ? null : headerProblems[problem])
    if (read.errors === null && problem === null) await action.run()
  }
  return (
    <section class='card' aria-label='Settings'>
      <h2>Settings</h2>
      <form class='stack' onSubmit={(event) => void save(event)} noValidate>
        <Fields
          {...{ fields, errors }}
          onField={(name, value) => setFields({ ...fields, [name]: value })}
        />
        {hasHeaders(base) && (
          <HeaderRows
            rows={headers}
            error={headerError}
            isOther={isOtherOrigin(fields.url, base.url)}
            onChange={setHeaders}
          />
        )}
        {isOutdated && isChanged && (
          <p class='hint' role='status'>
            Somebody else has changed this endpoint. Undo your changes to see the new settings.
          </p>
        )}
        {action.error !== null && <Problem error={action.error} />}
        {may('endpoints:write') && (
          <div class='row'>
            <button type='submit' class='primary' disabled={!isChanged || action.isRunning}>
              {action.isRunning ? 'Saving …' : 'Save'}
            </button>
            {isChanged && (
              <button type='button' onClick={() => begin(endpoint)}>Undo changes</button>
            )}
          </div>
        )}
      </form>
      <FixedFacts endpoint={endpoint} />
    </section>
  )
}
