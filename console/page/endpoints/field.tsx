/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { may } from '../app/session.ts'
import type { FormFields } from './form_fields.ts'

/** What the form says about a field; `choices`: its values, each with what it does. */
export interface Meaning {
  label: string
  hint: string
  choices?: readonly (readonly [value: string, text: string])[]
}

const yesOrNo = [['true', 'yes'], ['false', 'no']] as const

const meanings: Record<keyof FormFields, Meaning> = {
  url: { label: 'URL', hint: 'Where the requests go.' },
  description: { label: 'Description', hint: 'For people: what receives these events.' },
  eventTypes: { label: 'Event types', hint: 'Separated by spaces: order.paid, order.* or *.' },
  filter: {
    label: 'Filter',
    hint: 'A condition on the payload, such as $.total > 100. Empty: all events.',
  },
  timeoutMs: { label: 'Timeout in ms', hint: 'Of a whole request.' },
  maxInFlight: { label: 'Requests in flight', hint: 'At most, at the same time.' },
  ratePerSecond: { label: 'Requests a second', hint: 'At most. Empty: no limit.' },
  rateBurst: {
    label: 'Requests at once',
    hint: 'At most, after a pause. It counts only with a number of requests a second.',
  },
  quantum: {
    label: 'Deliveries in a turn',
    hint: 'At most, before the next endpoint has its turn.',
  },
  payload: {
    label: 'Body of a request',
    hint: 'Retries have the new form, too.',
    choices: [['envelope', 'the event with its data'], ['data', 'only the data']],
  },
  onDeadLetter: {
    label: 'After a dead letter',
    hint: 'What happens to the deliveries behind it in the order.',
    choices: [['continue', 'they go on'], ['halt', 'they wait for resume_lane() in SQL']],
  },
  retry4xx: {
    label: 'Retry after a status of 4xx',
    hint: 'If not, only 408, 425 and 429 are retried. 410 never is.',
    choices: yesOrNo,
  },
  breakerEnabled: {
    label: 'Breaker',
    hint: 'It holds the deliveries while the endpoint fails again and again.',
    choices: yesOrNo,
  },
  breakerThreshold: {
    label: 'Failures that open the breaker',
    hint: 'In a row.',
  },
  breakerOpenMs: {
    label: 'Time until a probe in ms',
    hint: 'How long an open breaker holds the deliveries before it lets one through.',
  },
}

/** The fields whose text is a whole number. */
const whole: readonly (keyof FormFields)[] = [
  ...['timeoutMs', 'maxInFlight', 'rateBurst', 'quantum'] as const,
  ...['breakerThreshold', 'breakerOpenMs'] as const,
]

/** A field of an endpoint with its error, or what it is for. */
export function Field({ name, ...rest }: Omit<FieldProps, 'meaning'> & {
  name: keyof FormFields
}): JSX.Element {
  return <FieldOf meaning={meanings[name]} isWhole={whole.includes(name)} {...rest} />
}

interface FieldProps {
  meaning: Meaning
  value: string
  error: string | undefined
  /** Whether its text is a whole number. */
  isWhole?: boolean
  onInput(value: string): void
}

/** A field or a choice, with its error or what it is for. */
export function FieldOf(
  { meaning: { label, hint, choices }, value, error, isWhole = false, onInput }: FieldProps,
): JSX.Element {
  const id = useId()
  const shared = {
    id,
    value,
    'aria-describedby': `${id}-hint`,
    'aria-invalid': error !== undefined,
  }
  return (
    <div class='field'>
      <label for={id}>{label}</label>
      {choices === undefined
        ? (
          <input
            {...shared}
            spellcheck={false}
            autocomplete='off'
            readOnly={!may('endpoints:write')}
            inputMode={isWhole ? 'numeric' : 'text'}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        )
        : (
          <select
            {...shared}
            disabled={!may('endpoints:write')}
            onChange={(event) => onInput(event.currentTarget.value)}
          >
            {choices.map(([one, text]) => <option key={one} value={one}>{text}</option>)}
          </select>
        )}
      <p id={`${id}-hint`} class={error === undefined ? 'field-hint' : 'field-error'}>
        {error === undefined ? hint : `${error}.`}
      </p>
    </div>
  )
}
