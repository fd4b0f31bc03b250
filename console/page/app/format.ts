const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
/** The formats of times in a zone. */
interface TimeFormats {
  clock: Intl.DateTimeFormat
  dayAndClock: Intl.DateTimeFormat
  day: Intl.DateTimeFormat
}

function formatsOf(timeZone: string | undefined): TimeFormats {
  const zone = timeZone === undefined ? {} : { timeZone }
  const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', ...zone } as const
  return {
    clock: new Intl.DateTimeFormat('en-GB', clock),
    dayAndClock: new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short', ...clock }),
    day: new Intl.DateTimeFormat('en-GB', { dateStyle: 'short', ...zone }),
  }
}

let times = formatsOf(undefined)

/** Sets the zone of all times; undefined: that of the browser. */
export function setTimeZone(timeZone: string | undefined): void {
  times = formatsOf(timeZone)
}

/** `12,345` or `0.3`. */
export function number(value: number): string {
  return numbers.format(value)
}

const rates = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 })

/** A rate, such as `0.02` or `1,200`. */
export function rate(value: number): string {
  return rates.format(value)
}

/** How often something happens, in the unit that gives a number to read: `3 a day`. */
export function pace(total: number, seconds: number): string {
  const each = total / Math.max(1, seconds)
  if (each >= 0.1 || total === 0) return `${rate(each)} a second`
  return each * 3600 >= 1 ? `${rate(each * 3600)} an hour` : `${rate(each * 86_400)} a day`
}

/** A time in the chosen zone; with the day unless it is today. */
export function localTime(iso: string): string {
  const at = new Date(iso)
  const isToday = times.day.format(at) === times.day.format(new Date())
  return (isToday ? times.clock : times.dayAndClock).format(at)
}

/** A span in its two largest units: `2 h 5 min`, `340 ms`. */
export function span(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return join(minutes, 'min', seconds % 60, 's')
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return join(hours, 'h', minutes % 60, 'min')
  return join(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

function join(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`
}

/** `in 20 s`, `3 min ago`. */
export function relative(iso: string, now: number): string {
  const ms = Date.parse(iso) - now
  if (Math.abs(ms) < 1000) return 'now'
  return ms > 0 ? `in ${span(ms)}` : `${span(-ms)} ago`
}

/** `1 event`, `2 events`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${number(n)} ${n === 1 ? one : many}`
}

/** The start of an id, enough to tell it from others on a page. */
export function shortId(id: string): string {
  return id.length > 13 ? `…${id.slice(-12)}` : id
}

/** `98.7 %`; never 100 % if anything failed. */
export function share(part: number, whole: number): string {
  if (whole === 0) return 'none'
  const percent = Math.floor((part / whole) * 1000) / 10
  return `${numbers.format(percent)} %`
}

const hidden =
  // deno-lint-ignore no-control-regex -- these are what it finds
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

/**
 * Text of others as it is shown: control characters, those that change the direction of a line, and
 * those without width are written as escapes, so that no text can pretend to be another.
 */
export function visible(text: string): string {
  return text.replace(
    hidden,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
