import type { Steps } from '../steps.ts'
import { type Check, mismatch } from './node.ts'
import { readNumber, refuse, type Source } from './source.ts'

/** Decimals are divided as texts and large integers. */
const stepsOfDivision = 8
const stepsOfLargeDivision = 32

/** Each bound with how to say it, and whether a value lies within. */
const bounds = [
  ['minimum', 'at least', (value: number, bound: number) => value >= bound],
  ['maximum', 'at most', (value: number, bound: number) => value <= bound],
  ['exclusiveMinimum', 'more than', (value: number, bound: number) => value > bound],
  ['exclusiveMaximum', 'less than', (value: number, bound: number) => value < bound],
] as const

/** `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum` and `multipleOf`. */
export function addNumberChecks(source: Source): void {
  for (const [name, words, isWithin] of bounds) {
    const bound = readNumber(source, name)
    if (bound === undefined) continue
    source.node.checks.push(numberCheck(`Expected ${words} ${bound}`, (value) => {
      return isWithin(value, bound)
    }))
  }
  const divisor = readNumber(source, 'multipleOf')
  if (divisor === undefined) return
  if (divisor <= 0) refuse(`${source.path}.multipleOf`, `is ${divisor}`, 'Expected more than 0')
  source.node.checks.push(numberCheck(`Expected a multiple of ${divisor}`, (value, steps) => {
    steps.take(stepsOfDivision)
    return isMultiple(value, divisor, steps)
  }))
}

function numberCheck(
  detail: string,
  isFit: (value: number, steps: Steps) => boolean,
): Check {
  return (value, _marks, steps) => {
    return typeof value !== 'number' || isFit(value, steps) ? null : mismatch(detail)
  }
}

/** Whether a decimal is a multiple of another, without the rounding of binary fractions. */
function isMultiple(value: number, divisor: number, steps: Steps): boolean {
  if (Number.isInteger(value) && Number.isInteger(divisor)) {
    // A bit at a time.
    steps.take(Math.abs(value) > Number.MAX_SAFE_INTEGER ? stepsOfLargeDivision : 0)
    return value % divisor === 0
  }
  if (!Number.isFinite(value)) return false
  const [digits, exponent] = decimal(value)
  const [divisorDigits, divisorExponent] = decimal(divisor)
  // The digits of the integers that are divided.
  steps.take(Math.abs(exponent - divisorExponent))
  const least = Math.min(exponent, divisorExponent)
  const scaled = digits * 10n ** BigInt(exponent - least)
  return scaled % (divisorDigits * 10n ** BigInt(divisorExponent - least)) === 0n
}

/** A number as digits × 10^exponent. */
function decimal(value: number): [digits: bigint, exponent: number] {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return [BigInt(whole + fraction), Number(exponent) - fraction.length]
}
