/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { Code } from '../parts/copy.tsx'
import { snippets } from '../snippets/snippets.ts'
import { Secret } from './secret.tsx'

/** How a receiver knows that a request is authentic: the secret, and code that checks it. */
export function Signature({ endpoint }: { endpoint: Output<'getEndpoint'> }): JSX.Element {
  const { can } = usePortal()
  return (
    <div class='stack wide-gap'>
      {(can('secrets:read') || can('secrets:write')) && <Secret endpointId={endpoint.id} />}
      <Snippets />
    </div>
  )
}

/** The language that was chosen last, for the next endpoint. */
let lastLanguage = 0

function Snippets(): JSX.Element {
  const { words: { t } } = usePortal()
  const [at, setAt] = useState(lastLanguage)
  const snippet = snippets[at] ?? snippets[0]
  return (
    <section class='stack' aria-labelledby='verify-title'>
      <h3 id='verify-title'>{t('verify')}</h3>
      <p>{t('verifyHint')}</p>
      <div class='segments' role='group' aria-label={t('language')}>
        {snippets.map(({ language }, i) => (
          <button
            part='button'
            key={language}
            type='button'
            aria-pressed={i === at}
            onClick={() => {
              lastLanguage = i
              setAt(i)
            }}
          >
            {language}
          </button>
        ))}
      </div>
      {snippet !== undefined && <Code text={snippet.code} name={snippet.language} />}
    </section>
  )
}
