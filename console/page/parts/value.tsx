/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Output } from '../../../package/client/operation_types.ts'
import { useEndpoint } from '../app/data.ts'
import { useNow } from '../app/clock.ts'
import { localTime, relative, shortId, visible } from '../app/format.ts'
import { may } from '../app/session.ts'
import { Link } from './link.tsx'

/** A time in the chosen zone; the title has it in UTC. */
export function Time({ at }: { at: string }): JSX.Element {
  const [, setZone] = useState(0)
  useEffect(() => {
    const redraw = (): void => setZone((n) => n + 1)
    addEventListener('outhook-zone', redraw)
    return () => removeEventListener('outhook-zone', redraw)
  }, [])
  return <time dateTime={at} title={at}>{localTime(at)}</time>
}

/** How long ago, or how long until. */
export function Ago({ at }: { at: string }): JSX.Element {
  return <time dateTime={at} title={at}>{relative(at, useNow())}</time>
}

/** Text that others wrote. */
export function Foreign({ text, mono = false }: { text: string; mono?: boolean }): JSX.Element {
  return <bdi class={mono ? 'foreign mono' : 'foreign'}>{visible(text)}</bdi>
}

/** The end of an id; the title has all of it. */
export function Id({ id }: { id: string }): JSX.Element {
  return <code class='id' title={id}>{shortId(id)}</code>
}

/** The address of an endpoint as a link to its page. */
export function EndpointName({ id }: { id: string }): JSX.Element {
  const isReadable = may('endpoints:read')
  const endpoint = useEndpoint(id, false, isReadable)
  if (!isReadable) return <Id id={id} />
  return (
    <Link to={`/endpoints/${id}`} class='endpoint-name' title={endpoint.data?.url ?? id}>
      {endpoint.data === undefined ? <Id id={id} /> : <Foreign text={nameOf(endpoint.data)} />}
    </Link>
  )
}

/** A channel has no address of its own, so that its description tells it from another. */
function nameOf({ url, description, kind }: Output<'getEndpoint'>): string {
  if (url !== '') return url
  return description === '' ? kind : description
}

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'quiet'

/** A status, told by its word; the colour only helps. */
export function Badge({ tone, children }: {
  tone: Tone
  children: ComponentChildren
}): JSX.Element {
  return <span class={`badge ${tone}`}>{children}</span>
}

/** A name with its value. */
export function Fact({ name, children }: {
  name: string
  children: ComponentChildren
}): JSX.Element {
  return (
    <div class='fact'>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
