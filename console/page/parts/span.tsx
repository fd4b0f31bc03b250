/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { setQuery, usePlace } from '../app/location.ts'
import { fieldOf, isoOf } from '../app/moment.ts'
import { currentZone, type Zone } from '../app/zone.ts'

/** A part of time: at or after `from`, before `to`. */
export interface Span {
  from?: string
  to?: string
}

const lengths: Readonly<Record<string, number>> = { hour: 3600, day: 86_400, week: 604_800 }

const choices = [
  ['', 'Any time'],
  ['hour', 'Last hour'],
  ['day', 'Last day'],
  ['week', 'Last week'],
  ['between', 'Between two times'],
] as const

/** The span of the address. */
export interface ChosenSpan {
  /** Tells it from another, also while its bounds move with the time. */
  key: string | null
  isSet: boolean
  /** What is wrong with it; null if nothing. */
  problem: string | null
  /** Its bounds, now. */
  now(): Span
}

/** The span that the address names: a length that ends now, or two times. */
export function useSpan(): ChosenSpan {
  const { query } = usePlace()
  const name = query.get('span')
  const seconds = name === null ? undefined : lengths[name]
  if (name !== 'between') {
    return {
      key: name,
      isSet: seconds !== undefined,
      problem: null,
      now: () =>
        seconds === undefined ? {} : { from: new Date(Date.now() - seconds * 1000).toISOString() },
    }
  }
  const [from, to] = [timeOf(query.get('from')), timeOf(query.get('to'))]
  const span = { ...from === null ? {} : { from }, ...to === null ? {} : { to } }
  return {
    key: `${from} ${to}`,
    isSet: from !== null || to !== null,
    problem: from !== null && to !== null && from >= to
      ? 'The first time is not before the second.'
      : null,
    now: () => span,
  }
}

/** A time of the address in one form, so that two compare as texts; null if it is none. */
function timeOf(text: string | null): string | null {
  const ms = Date.parse(text ?? '')
  return Number.isNaN(ms) ? null : new Date(ms).toISOString()
}

/** The choice of a span, with a field for each bound of one between two times. */
export function SpanFilter({ label }: { label: string }): JSX.Element {
  const value = usePlace().query.get('span') ?? ''
  const id = useId()
  return (
    <>
      <div class='field'>
        <label for={id}>{label}</label>
        <select
          id={id}
          value={value}
          onChange={({ currentTarget }) =>
            setQuery({ span: currentTarget.value, from: null, to: null })}
        >
          {choices.map(([one, text]) => <option key={one} value={one}>{text}</option>)}
        </select>
      </div>
      {value === 'between' && (
        <>
          <BoundFilter name='from' label='From' />
          <BoundFilter name='to' label='Until' />
        </>
      )}
    </>
  )
}

/** A bound in the address, set when the typing pauses: each key of a year is a time, too. */
function BoundFilter({ name, label }: { name: 'from' | 'to'; label: string }): JSX.Element {
  const at = usePlace().query.get(name)
  const zone = useZone()
  const [text, setText] = useState(() => fieldOf(at))
  useEffect(() => setText(fieldOf(at, zone)), [at, zone])
  useEffect(() => {
    if (text === fieldOf(at, zone)) return
    const timer = setTimeout(() => setQuery({ [name]: isoOf(text, zone) }), 400)
    return () => clearTimeout(timer)
  }, [text])
  return <MomentField label={label} value={text} zone={zone} onInput={setText} />
}

/** A field for a time in the chosen zone. */
export function MomentField({ label, value, zone, onInput }: {
  label: string
  value: string
  zone: Zone
  onInput(value: string): void
}): JSX.Element {
  return (
    <label class='field'>
      {zone === 'UTC' ? `${label} (UTC)` : label}
      <input
        type='datetime-local'
        value={value}
        max='9999-12-31T23:59'
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  )
}

/** The chosen zone, followed as it changes. */
export function useZone(): Zone {
  const [zone, setZone] = useState(currentZone)
  useEffect(() => {
    const follow = (): void => setZone(currentZone())
    addEventListener('outhook-zone', follow)
    return () => removeEventListener('outhook-zone', follow)
  }, [])
  return zone
}
