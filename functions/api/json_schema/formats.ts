import type { Steps } from '../steps.ts'
import { isDate, isDateTime, isTime } from './format_times.ts'
import { isEmail, isHostname, isIpv4, isIpv6 } from './format_hosts.ts'
import { isUri, isUriReference, isUriTemplate, isWebUrl } from './format_uris.ts'

/** Each format that is checked; others are descriptions. None takes more than linear time. */
export const formats: ReadonlyMap<string, (text: string, steps: Steps) => boolean> = new Map([
  ['date', isDate],
  ['time', isTime],
  ['date-time', isDateTime],
  ['duration', isDuration],
  ['email', costly(isEmail, 0.5)],
  ['hostname', costly(isHostname, 0.5)],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['uri', costly(isUri, 0.5)],
  ['uri-reference', costly(isUriReference, 0.5)],
  ['uri-template', costly(isUriTemplate, 1)],
  ['url', costly(isWebUrl, 0.5)],
  ['uuid', isUuid],
  ['regex', isRegex],
  ['json-pointer', isPointer],
  ['json-pointer-uri-fragment', isPointerFragment],
  ['relative-json-pointer', isRelativePointer],
])

/** A format that goes over a text several times: `each` is the number of steps for each character. */
function costly(
  isFit: (text: string) => boolean,
  each: number,
): (text: string, steps: Steps) => boolean {
  return (text: string, steps: Steps): boolean => {
    steps.take(Math.ceil(each * text.length))
    return isFit(text)
  }
}

/** ISO 8601 without fractions: weeks, or years to seconds without a gap. */
function isDuration(text: string): boolean {
  if (/^P\d+W$/.test(text)) return true
  const [date = '', time, more] = text.split('T')
  if (more !== undefined || !/^P(?:\d+Y)?(?:\d+M)?(?:\d+D)?$/.test(date)) return false
  if (/Y\d+D/.test(date)) return false
  if (time === undefined) return date !== 'P'
  return /^(?:\d+H)?(?:\d+M)?(?:\d+S)?$/.test(time) && time !== '' && !/H\d+S/.test(time)
}

function isUuid(text: string): boolean {
  return text.length === 36 && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}

const longestRegex = 2000
/** The engine takes 0.2 ms to read `\p{L}`. */
const stepsOfProperty = 4000

/** Only compiled, never run. Longer ones are refused, because compiling a large class is not linear. */
function isRegex(text: string, steps: Steps): boolean {
  if (text.length > longestRegex || /[^\\]\\Z/.test(text)) return false
  steps.take(text.length + stepsOfProperty * (text.match(/\\p/gi)?.length ?? 0))
  try {
    new RegExp(text, 'u')
    return true
  } catch {
    return false
  }
}

function isPointer(text: string): boolean {
  return (text === '' || text.startsWith('/')) && !/~(?![01])/.test(text)
}

function isPointerFragment(text: string): boolean {
  return (text === '#' || text.startsWith('#/')) &&
    !/[^\w\-.!$&'()*+,;:=@%~/]|%(?![0-9a-f]{2})|~(?![01])/i.test(text.slice(1))
}

function isRelativePointer(text: string): boolean {
  const [up = ''] = /^(?:0|[1-9]\d*)/.exec(text) ?? []
  const rest = text.slice(up.length)
  return up !== '' && (rest === '#' || isPointer(rest))
}
