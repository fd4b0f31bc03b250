/** @jsxImportSource preact */

/** The entry point of the page. */

import { QueryClientProvider } from '@tanstack/preact-query'
import { type JSX, render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { queryClient } from './app/data.ts'
import { Routes } from './app/routes.tsx'
import { connection, isSignedOut, onSignedOut } from './app/hosting.ts'
import { openSession, renewSession, type Session } from './app/session.ts'
import { Gate } from './parts/gate.tsx'
import { Guarded } from './parts/view_failed.tsx'
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
      <Guarded at=''>
        <Shell label={session.label}>
          <Routes />
        </Shell>
      </Guarded>
    </QueryClientProvider>
  )
}

function Framed(): JSX.Element {
  return (
    <main class='gate'>
      <h1>The console does not open in a frame</h1>
    </main>
  )
}

applyTheme(currentTheme())
applyZone(currentZone())
const root = document.getElementById('app')
// A host that sets no header lets other pages show the console in a frame, where its clicks could be stolen.
const isFramed = connection !== null && self !== top
if (root !== null) render(isFramed ? <Framed /> : <App />, root)
