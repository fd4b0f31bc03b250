import type { Family, Sample } from './family.ts'

/** A gauge with any samples; `unit` is the unit at the end of its name. */
export function gauge(
  name: string,
  help: string,
  samples: readonly Sample[],
  unit?: 'seconds' | 'bytes' | undefined,
): Family {
  return { name, type: 'gauge', help, samples, ...unit === undefined ? {} : { unit } }
}

export function single(name: string, help: string, value: number): Family {
  return gauge(name, help, [{ labels: [], value }])
}

/** A gauge of seconds; its name is `name` + `_age_seconds`. */
export function age(name: string, help: string, value: number): Family {
  return gauge(`${name}_age_seconds`, help, [{ labels: [], value }], 'seconds')
}

/** The age of a time, both in seconds since 1970; empty if the time is null. */
export function at(name: string, help: string, now: number, moment: number | null): Family[] {
  return moment === null ? [] : [age(name, help, since(now, moment))]
}

/** Seconds since a time; 0 for null, or if the statistics are ahead of the database's clock. */
export function since(now: number, moment: number | null): number {
  return moment === null ? 0 : Math.max(0, now - moment)
}
