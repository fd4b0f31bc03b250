import type { Steps } from '../steps.ts'
import { isObject } from './source.ts'

const stepsOfValue = 8

/**
 * A text that two JSON values share if and only if they are equal; the order of members does not
 * count. With `steps` it takes eight for each value, which is built and then looked up, and one for
 * 32 characters.
 */
export function canonical(value: unknown, steps: Steps | null = null): string {
  steps?.take(stepsOfValue)
  if (typeof value === 'string') {
    steps?.takeText(value)
    return JSON.stringify(value)
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, steps)).join()}]`
  if (!isObject(value)) return value === 0 ? '0' : String(value)
  const members = Object.keys(value).sort().map((name) => {
    return `${canonical(name, steps)}:${canonical(value[name], steps)}`
  })
  return `{${members.join()}}`
}
