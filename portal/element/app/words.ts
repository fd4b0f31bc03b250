import { english } from '../texts/english.ts'

/** The texts of the element by key. A value has its variables in braces: `{n} failed`. */
export type Texts = Record<keyof typeof english, string>

export type TextKey = keyof Texts

type Values = Record<string, string | number>

/** How the element writes texts, numbers and times in its language. */
export interface Words {
  lang: string
  t(key: TextKey, values?: Values): string
  n(value: number): string
  /** A time in the zone of the browser. */
  time(iso: string): string
  /** How long ago, or how long until. */
  relative(iso: string, now: number): string
  span(ms: number): string
  share(part: number, whole: number): string
}

/** The words of a language: `texts` replaces the English ones, and may have only some. */
export function wordsOf(lang: string, texts: Partial<Texts>): Words {
  const locale = isLocale(lang) ? lang : 'en'
  const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })
  const times = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
  const relatives = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const unit = (value: number, name: string, digits = 0): string =>
    new Intl.NumberFormat(locale, {
      style: 'unit',
      unit: name,
      unitDisplay: 'short',
      maximumFractionDigits: digits,
    }).format(value)

  function t(key: TextKey, values: Values = {}): string {
    const text = texts[key] ?? english[key]
    return text.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = values[name]
      return typeof value === 'number' ? numbers.format(value) : value ?? ''
    })
  }

  function span(ms: number): string {
    for (const [size, name] of sizes) {
      if (ms >= size) return unit(ms / size, name, name === 'second' && ms < 10_000 ? 1 : 0)
    }
    return unit(Math.round(ms), 'millisecond')
  }

  return {
    lang: locale,
    t,
    n: (value) => numbers.format(value),
    time: (iso) => times.format(new Date(iso)),
    relative(iso, now): string {
      const ms = Date.parse(iso) - now
      const [size, name] = sizes.find(([least]) => Math.abs(ms) >= least) ?? [1000, 'second']
      return relatives.format(Math.round(ms / size), name)
    },
    span,
    share: (part, whole) =>
      // Never 100 % if anything failed.
      whole === 0 ? t('none') : `${numbers.format(Math.floor((part / whole) * 1000) / 10)} %`,
  }
}

const sizes: readonly (readonly [ms: number, unit: 'day' | 'hour' | 'minute' | 'second'])[] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
]

function isLocale(lang: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(lang).length > 0
  } catch {
    return false
  }
}
