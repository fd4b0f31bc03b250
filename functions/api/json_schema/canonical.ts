import type { Steps } from '../steps.ts'
import { isObject } from './source.ts'

const stepsOfValue = 8
/** The characters around a text. */
const quotes = 2

/**
 * A text that two JSON values share if and only if they are equal; the order of members does not
 * count. With `steps` it takes eight for each value, which is built and then looked up, one for 32
 * characters, and one for each character that an escape adds.
 */
export function canonical(value: unknown, steps: Steps | null = null): string {
  steps?.take(stepsOfValue)
  if (typeof value === 'string') {
    steps?.takeText(value)
    const text = JSON.stringify(value)
    // An escape takes much longer than a character that is copied.
    steps?.take(text.length - value.length - quotes)
    return text
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, steps)).join()}]`
  if (!isObject(value)) return value === 0 ? '0' : String(value)
  const members = Object.keys(value).sort().map((name) => {
    return `${canonical(name, steps)}:${canonical(value[name], steps)}`
  })
  return `{${members.join()}}`
}
