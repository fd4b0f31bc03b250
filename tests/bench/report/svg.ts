/** The parts that all charts share. Colours are legible on light and dark pages. */

export interface Point {
  series: string
  at: string | undefined
  value: number
}

export const WIDTH = 720
/** Room for names at the left, and for figures at the right. */
export const LEFT = 170
export const RIGHT = 70
export const TOP = 40

/** Ours is the first. */
const COLOURS = ['#0f9d6e', '#3b6fd4', '#c2571a', '#8e4ec6', '#b08800', '#64748b', '#d6336c']
const OURS: Record<string, string> = { 'outhook direct': '#0f9d6e', 'outhook rpc': '#59c59f' }

/** The colour of a series, the same in each chart of the same series. */
export function colourOf(series: string, all: string[]): string {
  const others = all.filter((name) => OURS[name] === undefined)
  return OURS[series] ?? COLOURS[1 + others.indexOf(series) % (COLOURS.length - 1)] ?? '#64748b'
}

export function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Text at a place. */
export function label(
  x: number,
  y: number,
  text: string,
  anchor: 'start' | 'middle' | 'end' = 'start',
): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escape(text)}</text>`
}

/** One digit after the point is finer than a pixel needs. */
export function round(value: number): string {
  return String(Math.round(value * 10) / 10)
}

/** A whole picture; `title` is escaped already. */
export function frame(height: number, title: string, body: string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${title}</title>`,
    '<style>text{font:13px system-ui,sans-serif;fill:#24292f}.h{font-weight:600}',
    '.axis{stroke:#8884;fill:none}.line{fill:none;stroke-width:2}</style>',
    `<rect width="${WIDTH}" height="${height}" rx="6" fill="#fff"/>`,
    `<text class="h" x="16" y="24">${title}</text>`,
    ...body,
    '</svg>\n',
  ].join('\n')
}
