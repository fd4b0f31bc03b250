import type { Output } from '../../../package/client/operation_types.ts'
import type { formChoices, formLimits } from './form_limits.ts'

type Endpoint = Output<'getEndpoint'>

/** The fields of the form, as texts; of a breaker and of `retry4xx`, `true` or `false`. */
export type FormFields = {
  [Name in keyof typeof formLimits | keyof typeof formChoices | BreakerField | 'retry4xx']: string
}

export type BreakerField = 'breakerEnabled' | 'breakerThreshold' | 'breakerOpenMs'

/** The fields of a new endpoint. The API has a default for each of the others. */
export type NewFields = Pick<FormFields, 'url' | 'description' | 'eventTypes' | 'filter'>

/** The form for the settings of an endpoint. */
export function fieldsOf(endpoint: Endpoint): FormFields {
  const { breaker, ratePerSecond } = endpoint
  return {
    url: endpoint.url,
    description: endpoint.description,
    eventTypes: endpoint.eventTypes.join(' '),
    filter: endpoint.filter ?? '',
    timeoutMs: String(endpoint.timeoutMs),
    maxInFlight: String(endpoint.maxInFlight),
    ratePerSecond: ratePerSecond === null ? '' : String(ratePerSecond),
    rateBurst: String(endpoint.rateBurst),
    quantum: String(endpoint.quantum),
    payload: endpoint.payload,
    onDeadLetter: endpoint.onDeadLetter,
    retry4xx: String(endpoint.retry4xx),
    breakerEnabled: String(breaker.enabled),
    breakerThreshold: String(breaker.threshold),
    breakerOpenMs: String(breaker.openMs),
  }
}

/** The fields without an effect for an endpoint, which are not shown. */
export function unusedFields({ kind, ordering }: Endpoint): ReadonlySet<keyof FormFields> {
  return new Set<keyof FormFields>([
    ...kind === 'slack' ? ['payload'] as const : [],
    ...ordering === 'none' ? ['onDeadLetter'] as const : [],
  ])
}
