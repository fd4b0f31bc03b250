/** The bounds of the fields of the form. A test compares them with openapi.json. */
export const formLimits = {
  url: { maxLength: 2048 },
  description: { maxLength: 1000 },
  eventTypes: { maxItems: 100, items: { maxLength: 128 } },
  filter: { maxLength: 1000 },
  timeoutMs: { minimum: 500, maximum: 60_000 },
  maxInFlight: { minimum: 1, maximum: 1000 },
  ratePerSecond: { minimum: 0.001, maximum: 100_000 },
  rateBurst: { minimum: 1, maximum: 100_000 },
  quantum: { minimum: 1, maximum: 1000 },
} as const

/** The bounds of the members of `breaker`. */
export const breakerLimits = {
  threshold: { minimum: 1, maximum: 1000 },
  openMs: { minimum: 1000, maximum: 3_600_000 },
} as const

/** The values of the fields that are a choice. */
export const formChoices = {
  payload: ['envelope', 'data'],
  onDeadLetter: ['continue', 'halt'],
} as const
