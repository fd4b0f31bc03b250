import * as z from 'zod'

/** Stands for `__proto__` while zod, which drops a member of that name, reads the others. */
const standIn = '__proto__ '

/**
 * `z.record()` for names that users choose: a member `__proto__` is checked and kept like any other.
 * Copy such a record with spread or `Object.fromEntries`, because `record[name] = value` loses it.
 */
export function keyed<Value extends z.ZodType>(
  name: z.ZodType<string, string>,
  value: Value,
): z.ZodType<Record<string, z.output<Value>>> {
  return z.preprocess(
    (input) => rename(input, '__proto__', standIn),
    z.record(name, value).transform((read): Record<string, z.output<Value>> => {
      // SAFETY: only the name of a member changes.
      return rename(read, standIn, '__proto__') as Record<string, z.output<Value>>
    }),
  )
}

function rename(value: unknown, from: string, to: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, from)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name === from ? to : name, member]),
  )
}
