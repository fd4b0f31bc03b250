/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { may } from '../app/session.ts'
import { later } from '../parts/later.tsx'

const NewEndpoint = later(async () => (await import('./new_endpoint.tsx')).NewEndpoint)

/** Opens the dialog that creates an endpoint; nothing for whoever may not. */
export function NewEndpointButton(): JSX.Element | null {
  const [isOpen, setOpen] = useState(false)
  if (!may('endpoints:write')) return null
  return (
    <>
      <button type='button' class='primary' onClick={() => setOpen(true)}>New endpoint …</button>
      {isOpen && <NewEndpoint onClose={() => setOpen(false)} />}
    </>
  )
}
