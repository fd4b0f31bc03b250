/** @jsxImportSource preact */

/** The entry point of the page. */

import { QueryClientProvider } from '@tanstack/preact-query'
import { type JSX, render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { queryClient } from './app/data.ts'
import { Routes } from './app/routes.tsx'
import { isSignedOut, onSignedOut } from './app/hosting.ts'
import { openSession, renewSession, type Session } from './app/session.ts'
import { Gate } from './parts/gate.tsx'
import { Shell } from './app/shell.tsx'
import { applyTheme, currentTheme } from './app/theme.ts'
import { applyZone, currentZone } from './app/zone.ts'

function App(): JSX.Element {
  const [session, setSession] = useState<Session | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [isOpening, setOpening] = useState(0)
  useEffect(() => {
    openSession().then(setSession, setError)
  }, [isOpening])
  // What a renewed token allows, and until when.
  useEffect(() => onSignedOut(() => void (isSignedOut() || renewSession())), [])
  const again = (): void => {
    setError(null)
    setOpening(isOpening + 1)
  }
  if (error !== null) return <Gate error={error} again={again} />
  if (session === null) {
    return (
      <main class='gate'>
        <p class='quiet'>Opening</p>
      </main>
    )
  }
  return (
    <QueryClientProvider client={queryClient}>
      <Shell label={session.label}>
        <Routes />
      </Shell>
    </QueryClientProvider>
  )
}

applyTheme(currentTheme())
applyZone(currentZone())
const root = document.getElementById('app')
if (root !== null) render(<App />, root)
