/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { refresh } from '../app/data.ts'
import { connection, isSignedOut, onSignedOut, signInAgain } from '../app/hosting.ts'

/** A way back for somebody whose login has ended, on a hosted page. */
export function SignIn({ onSignedIn }: { onSignedIn(): void }): JSX.Element | null {
  const [isWaiting, setWaiting] = useState(false)
  if (connection === null) return null
  const signIn = async (): Promise<void> => {
    setWaiting(true)
    const address = await signInAgain()
    setWaiting(false)
    if (address === null) onSignedIn()
    else location.assign(address)
  }
  return (
    <button type='button' class='primary' disabled={isWaiting} onClick={() => void signIn()}>
      Sign in again
    </button>
  )
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
