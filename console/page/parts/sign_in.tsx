/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { refresh } from '../app/data.ts'
import { connection, isSignedOut, onSignedOut, signInAgain } from '../app/hosting.ts'

/** Lets somebody whose login has ended log in again, on a hosted page. */
export function SignIn({ onSignedIn }: { onSignedIn(): void }): JSX.Element | null {
  const [isWaiting, setWaiting] = useState(false)
  const [isUnknown, setUnknown] = useState(false)
  if (connection === null) return null
  const signIn = async (): Promise<void> => {
    setWaiting(true)
    setUnknown(false)
    try {
      const address = await signInAgain()
      if (address === null) onSignedIn()
      else location.assign(withPath(address))
    } catch {
      setUnknown(true)
    } finally {
      setWaiting(false)
    }
  }
  return (
    <>
      <button type='button' class='primary' disabled={isWaiting} onClick={() => void signIn()}>
        Sign in again
      </button>
      {isUnknown && (
        <p class='field-error' role='alert'>
          The host of this page does not say where to log in. Try again, or reload the page.
        </p>
      )}
    </>
  )
}

/** The address of the login, which may name the page to return to. */
function withPath(address: string): string {
  // Two slashes would be the start of another host.
  const path = encodeURIComponent(location.pathname.replace(/^\/+/, '/') + location.search)
  return address.replaceAll('{path}', () => path)
}

/** Says that the login has ended. What was read stays visible. */
export function SignedOut(): JSX.Element | null {
  const [isOut, setOut] = useState(isSignedOut)
  useEffect(() => onSignedOut(() => setOut(isSignedOut())), [])
  if (!isOut) return null
  return (
    <div class='problem' role='alert'>
      <p>You are signed out. What is shown was read before that.</p>
      <SignIn onSignedIn={() => void refresh()} />
    </div>
  )
}
