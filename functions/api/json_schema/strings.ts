import { formats } from './formats.ts'
import { type Check, mismatch } from './node.ts'
import { readCount, type Source } from './source.ts'
import type { Steps } from '../steps.ts'

/** `minLength`, `maxLength`, `pattern` and `format`. */
export function addStringChecks(source: Source): void {
  const { raw, path, node } = source
  const least = readCount(source, 'minLength')
  if (least !== undefined) {
    node.checks.push(textCheck(`Expected at least ${least} characters`, (text, steps) => {
      return countCharacters(text, steps) >= least
    }))
  }
  const most = readCount(source, 'maxLength')
  if (most !== undefined) {
    node.checks.push(textCheck(`Expected at most ${most} characters`, (text, steps) => {
      return countCharacters(text, steps) <= most
    }))
  }
  if (raw.pattern !== undefined) {
    const pattern = source.pattern(raw.pattern, `${path}.pattern`)
    node.checks.push(textCheck('Does not match the pattern', (text, steps) => {
      return pattern.test(text, steps)
    }))
  }
  const format = typeof raw.format === 'string' ? formats.get(raw.format) : undefined
  if (format === undefined) return
  node.checks.push(textCheck(`Expected the format ${String(raw.format)}`, (text, steps) => {
    // A few operations of the engine, each of which looks at a character once.
    steps.take(4 + (text.length >> 3))
    return format(text, steps)
  }))
}

function textCheck(detail: string, isFit: (text: string, steps: Steps) => boolean): Check {
  return (value, _marks, steps) => {
    return typeof value !== 'string' || isFit(value, steps) ? null : mismatch(detail)
  }
}

/** Code points: a pair of surrogates counts once. */
function countCharacters(text: string, steps: Steps): number {
  steps.takeText(text)
  let count = text.length
  for (let at = 0; at + 1 < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) !== 0xd800) continue
    if ((text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) continue
    count--
    at++
  }
  return count
}
