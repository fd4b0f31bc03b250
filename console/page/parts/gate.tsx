/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { asFailure } from '../app/api.ts'
import { connection } from '../app/hosting.ts'
import { isOrgId } from '../app/location.ts'
import { whichOrganisation } from '../app/session.ts'
import { SignIn } from './sign_in.tsx'
import { Problem } from './state.tsx'

/** In place of the console: why it does not open, and what helps. */
export function Gate({ error, again }: { error: unknown; again(): void }): JSX.Element {
  const { status, code } = asFailure(error)
  const isHosted = connection !== null
  const isLogin = status === 401 || status === 403
  return (
    <main class='gate'>
      <img src='/assets/icon.svg' alt='' width='40' height='40' />
      <h1>{isHosted && !isLogin ? 'The console does not open yet' : 'The console is locked'}</h1>
      <Problem error={error} {...isHosted && !isLogin ? { retry: again } : {}} />
      {isLogin && <SignIn onSignedIn={again} />}
      {isHosted && (code === whichOrganisation || status === 403) && <ChooseOrganisation />}
    </main>
  )
}

/** The organisation to open, for a token that has several. */
function ChooseOrganisation(): JSX.Element {
  const [text, setText] = useState('')
  const open = (event: Event): void => {
    event.preventDefault()
    const url = new URL(location.href)
    url.searchParams.set('org', text.trim())
    location.assign(url)
  }
  return (
    <form class='filters' onSubmit={open}>
      <label class='field grow'>
        Organisation
        <input
          value={text}
          maxLength={64}
          spellcheck={false}
          autocomplete='off'
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type='submit' disabled={!isOrgId(text.trim())}>Open</button>
    </form>
  )
}
