/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { useLive } from './data.ts'
import { api } from './api.ts'
import { keyHelp, useKeys } from './keys.ts'
import { Link } from '../parts/link.tsx'
import { SignedOut } from '../parts/sign_in.tsx'
import { Guarded } from '../parts/view_failed.tsx'
import { isOrgId, orgOf, orgParameter, setQuery, usePlace } from './location.ts'
import { isAllowed, pageOf, pages } from './pages.ts'
import { may } from './session.ts'
import { applyTheme, currentTheme, nextTheme } from './theme.ts'
import { applyZone, currentZone } from './zone.ts'

/** The frame of every page: where one is, the organisation, and whether deliveries work. */
export function Shell({ label, children }: {
  label: string
  children: ComponentChildren
}): JSX.Element {
  const { path } = usePlace()
  const [isHelpOpen, setHelpOpen] = useState(false)
  const [theme, setTheme] = useState(currentTheme)
  const [zone, setZone] = useState(currentZone)
  const changeTheme = (): void => {
    const next = nextTheme(currentTheme())
    applyTheme(next)
    setTheme(next)
  }
  const changeZone = (): void => {
    const next = currentZone() === 'UTC' ? 'local' : 'UTC'
    applyZone(next)
    setZone(next)
  }
  useKeys({ help: () => setHelpOpen(true), theme: changeTheme, zone: changeZone })
  const here = pageOf(path.split('/')[1] ?? '')
  return (
    <div class='shell'>
      <a class='skip' href='#main'>Go to the content</a>
      <header class='side'>
        <div class='brand'>
          <img src='/assets/icon.svg' alt='' width='28' height='28' />
          <div>
            <strong>Outhook</strong>
            <span class='quiet host' title={label}>{label}</span>
          </div>
        </div>
        <nav aria-label='Pages'>
          {pages.filter(isAllowed).map((one) => (
            <Link key={one.path} to={one.path} class='nav' current={one === here}>{one.name}</Link>
          ))}
        </nav>
        <div class='side-foot'>
          <Organisation />
          {may('health:read') && (
            <Guarded at={path}>
              <HealthLine />
            </Guarded>
          )}
          <div class='row'>
            <button type='button' class='plain' onClick={changeTheme}>Theme: {theme}</button>
            <button type='button' class='plain' onClick={changeZone}>Times: {zone}</button>
            <button type='button' class='plain' onClick={() => setHelpOpen(true)}>
              Keys <kbd>?</kbd>
            </button>
          </div>
        </div>
      </header>
      <main id='main' tabIndex={-1}>
        <SignedOut />
        {children}
      </main>
      {isHelpOpen && (
        <Dialog title='Keys' onClose={() => setHelpOpen(false)}>
          <dl class='keys'>
            {keyHelp().map(([keys, what]) => (
              <div key={keys}>
                <dt>{keys.split(/\s+/).map((one) => <kbd key={one}>{one}</kbd>)}</dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </Dialog>
      )}
    </div>
  )
}

/** A field, because nothing lists all organisations. */
function Organisation(): JSX.Element {
  const org = orgOf(usePlace())
  const [text, setText] = useState(org)
  const apply = (event: Event): void => {
    event.preventDefault()
    if (isOrgId(text)) setQuery({ org: orgParameter(text) })
    else setText(org)
  }
  return (
    <form class='org' onSubmit={apply}>
      <label for='org'>Organisation</label>
      <input
        id='org'
        value={text}
        maxLength={64}
        spellcheck={false}
        autocomplete='off'
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={apply}
      />
    </form>
  )
}

function HealthLine(): JSX.Element {
  const health = useLive(['health'], (signal) => api.getHealth({ signal }))
  const [tone, text] = health.isError
    ? ['bad', 'API does not respond']
    : health.data === undefined
    ? ['quiet', 'Checking']
    : health.data.status === 'ok'
    ? ['good', 'Deliveries work']
    : ['warn', 'Deliveries are delayed']
  return (
    <p class={`health ${tone}`} role='status'>
      <span class='dot' aria-hidden='true' />
      {text}
    </p>
  )
}
