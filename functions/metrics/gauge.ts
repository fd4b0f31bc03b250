import type { Family, Sample } from './family.ts'

/** A gauge of any samples; `unit` is the one that its name ends with. */
export function gauge(
  name: string,
  help: string,
  samples: readonly Sample[],
  unit?: 'seconds' | 'bytes',
): Family {
  return { name, type: 'gauge', help, samples, ...unit === undefined ? {} : { unit } }
}

/** A gauge of one value, without labels. */
export function single(name: string, help: string, value: number): Family {
  return gauge(name, help, [{ labels: [], value }])
}

/** A gauge of seconds: `name` gets the ending `_age_seconds`. */
export function age(name: string, help: string, value: number): Family {
  return gauge(`${name}_age_seconds`, help, [{ labels: [], value }], 'seconds')
}

/** The age of a moment, both in seconds of the epoch; none of what has never been. */
export function at(name: string, help: string, now: number, moment: number | null): Family[] {
  return moment === null ? [] : [age(name, help, since(now, moment))]
}

/** Seconds since a moment, 0 without one: statistics may be a moment ahead of the answer's clock. */
export function since(now: number, moment: number | null): number {
  return moment === null ? 0 : Math.max(0, now - moment)
}
