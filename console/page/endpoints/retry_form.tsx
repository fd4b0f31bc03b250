/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Input, Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { useLive } from '../app/data.ts'
import { useAction } from '../parts/action.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Problem, Read } from '../parts/state.tsx'
import { FieldOf, type Meaning } from './field.tsx'
import {
  fieldsOfStrategy,
  readRetry,
  type RetryErrors,
  type RetryFields,
  retryFieldsOf,
  type retryLimits,
} from './retry_schema.ts'
import { ScheduleTable } from './schedule_table.tsx'

type Config = Output<'getRetryConfig'>
type Policy = Input<'setRetryConfig'>['body']

const meanings: Record<keyof typeof retryLimits, Meaning> = {
  delays: {
    label: 'Seconds before each retry',
    hint: 'Separated by spaces. The last one is repeated.',
  },
  baseDelay: { label: 'Seconds before the first retry', hint: 'To a millisecond.' },
  factor: { label: 'Factor', hint: 'Each delay is so many times the one before. Empty: 2.' },
  maxDelay: { label: 'Longest delay in seconds', hint: 'Empty: no longest one.' },
  maxRetries: { label: 'Retries', hint: 'After the first attempt. Empty: 5.' },
}

const strategy: Meaning = {
  label: 'Delays',
  hint: 'How they grow.',
  choices: [
    ['schedule', 'as listed'],
    ['exponential', 'exponential: times a factor'],
    ['linear', 'linear: by the same seconds'],
    ['fixed', 'fixed: always the same'],
  ],
}

const jitter: Meaning = {
  label: 'Spread retries',
  hint: 'Multiplies each delay by a random factor from 0.5 to 1.5.',
  choices: [['true', 'yes'], ['false', 'no']],
}

/** Changes when failed attempts of an endpoint are repeated, with the schedule before it is saved. */
export function RetryForm({ endpointId, config, onClose }: {
  endpointId: string
  config: Config
  onClose(): void
}): JSX.Element {
  // What it began with stays while somebody types, whatever is read in the meantime.
  const [base] = useState(config)
  const [fields, setFields] = useState(() => retryFieldsOf(base))
  const [errors, setErrors] = useState<RetryErrors>({})
  const read = readRetry(fields)
  const isOutdated = policyOf(config) !== policyOf(base)
  // A change of another setting in the meantime is no reason to refuse this one.
  const { version } = isOutdated ? base : config
  const target = { path: { endpointId }, ifMatch: `"${version}"` }
  const save = useAction(async () => {
    if (read.policy !== null) await api.setRetryConfig({ ...target, body: read.policy })
  })
  const reset = useAction(() => api.resetRetryConfig(target))
  const set = (change: Partial<RetryFields>): void => setFields({ ...fields, ...change })
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setErrors(read.errors ?? {})
    if (read.errors === null && await save.run()) onClose()
  }
  const isRunning = save.isRunning || reset.isRunning
  return (
    <Dialog title='Change the retries' onClose={onClose}>
      <form class='stack' onSubmit={(event) => void submit(event)} noValidate>
        <FieldOf
          meaning={strategy}
          value={fields.strategy}
          error={undefined}
          // SAFETY: the values of the choice are the strategies.
          onInput={(value) => set({ strategy: value as RetryFields['strategy'] })}
        />
        {[...fieldsOfStrategy[fields.strategy], 'maxDelay' as const, 'maxRetries' as const].map(
          (name) => (
            <FieldOf
              key={name}
              meaning={meanings[name]}
              value={fields[name]}
              error={errors[name]}
              isWhole={name === 'maxRetries'}
              onInput={(value) => set({ [name]: value })}
            />
          ),
        )}
        <FieldOf
          meaning={jitter}
          value={fields.jitter}
          error={undefined}
          onInput={(value) => set({ jitter: value })}
        />
        <Preview policy={read.policy} />
        {isOutdated && !isRunning && (
          <p class='hint' role='status'>
            Somebody else has changed the retries. Close this form to see them.
          </p>
        )}
        {save.error !== null && <Problem error={save.error} />}
        {reset.error !== null && <Problem error={reset.error} />}
        <div class='row end'>
          {!base.preset && (
            <button
              type='button'
              disabled={isRunning}
              onClick={async () => {
                if (await reset.run()) onClose()
              }}
            >
              Return to the preset
            </button>
          )}
          <button type='submit' class='primary' disabled={isRunning}>
            {save.isRunning ? 'Saving …' : 'Save'}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function policyOf({ preset, policy }: Config): string {
  return JSON.stringify([preset, policy])
}

/** The schedule of a policy that is not saved, once the typing pauses. */
function Preview({ policy }: { policy: Policy | null }): JSX.Element {
  const text = policy === null ? null : JSON.stringify(policy)
  const [shown, setShown] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setShown(text), 300)
    return () => clearTimeout(timer)
  }, [text])
  const preview = useLive(
    ['retry-preview', shown],
    (signal) => api.previewRetryConfig({ body: JSON.parse(shown ?? ''), signal }),
    { every: false, enabled: shown !== null, keep: true },
  )
  if (policy === null) {
    return <p class='quiet' role='status'>Fill in the fields to see the schedule.</p>
  }
  return (
    <section aria-label='Schedule'>
      <Read of={preview}>{({ schedule }) => <ScheduleTable schedule={schedule} />}</Read>
    </section>
  )
}
