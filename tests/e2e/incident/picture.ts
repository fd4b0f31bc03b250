/** What the dashboard would show of an incident, drawn from the data of the real Prometheus. */

import type { Series } from '../../_support/prometheus.ts'
import { fillIn, type Panel, readPanels } from './dashboard.ts'
import type { Incident } from './incident.ts'

/** The panels that show an incident. All panels would be too many. */
const pictured = [
  'Open deliveries by status',
  'Age of the oldest work',
  'Attempts a second by outcome',
  'How long attempts take, p95',
  'Failed attempts a second by class',
  'Retries scheduled a second',
  'Endpoints by status',
  'Open dead letters and replay jobs',
  'Messages a second by status',
  'Runs alive by kind',
  'Time since the last tick and kick',
  'Dead rows',
]
const columns = 3
const width = 400
const height = 190
const gap = 12
const colours = ['#3b6fd4', '#0f9d6e', '#c2571a', '#8e4ec6', '#b08800', '#d6336c', '#64748b']
const plot = { left: 52, top: 34, right: 12, bottom: 48 }

/** Draws some panels that show a course of time, three in a row, as one SVG. */
export async function drawDashboard(incident: Incident): Promise<string> {
  const { prometheus, began, brokeAt, mendedAt } = incident
  const now = Date.now() / 1000
  const step = Math.max(1, Math.round((now - began) / 120))
  const shown = (await readPanels()).filter(({ title }) => pictured.includes(title))
  const drawn: string[] = []
  for (const panel of shown) {
    const all: { name: string; values: Series['values'] }[] = []
    for (const { expr, legendFormat } of panel.targets) {
      const query = fillIn(expr, 4 * Math.max(step, 5), Math.ceil(now - began))
      for (const series of await prometheus.range(query, began, now, step)) {
        all.push({ name: legend(legendFormat, series.metric), values: series.values })
      }
    }
    const x = gap + (drawn.length % columns) * (width + gap)
    const y = gap + 30 + Math.floor(drawn.length / columns) * (height + gap)
    drawn.push(drawPanel(panel, all, { x, y, from: began, to: now, marks: [brokeAt, mendedAt] }))
  }
  const rows = Math.ceil(drawn.length / columns)
  const whole = { w: gap + columns * (width + gap), h: 42 + rows * (height + gap) }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${whole.w} ${whole.h}" role="img">
<title>Outhook's dashboard during an incident</title>
<style>text{font:11px system-ui,sans-serif;fill:#24292f}.t{font-weight:600;font-size:12px}.a{stroke:#8886;fill:none}.l{fill:none;stroke-width:1.4}.m{stroke:#d6336c;stroke-dasharray:3 3}</style>
<rect width="${whole.w}" height="${whole.h}" fill="#f6f8fa"/>
<text class="t" x="${gap}" y="26">Outhook during an incident: panels of sql/ops/dashboard.json, drawn from Prometheus. Dashed lines: start and end of the faults.</text>
${drawn.join('\n')}
</svg>
`
}

type Place = { x: number; y: number; from: number; to: number; marks: number[] }

function drawPanel(
  { title, fieldConfig }: Panel,
  all: { name: string; values: Series['values'] }[],
  { x, y, from, to, marks }: Place,
): string {
  const highest = Math.max(
    0,
    ...all.flatMap(({ values }) => values.map(([, v]) => v))
      .filter((value) => Number.isFinite(value)),
  )
  const top = highest === 0 ? 1 : highest * 1.05
  const across = width - plot.left - plot.right
  const up = height - plot.top - plot.bottom
  const px = (at: number): string => (plot.left + (at - from) / (to - from) * across).toFixed(1)
  const py = (value: number): string => (plot.top + up - value / top * up).toFixed(1)
  const lines = all.map(({ values }, index) => {
    const points = values.filter(([, value]) => Number.isFinite(value))
      .map(([at, value]) => `${px(at)},${py(value)}`)
    return `<polyline class="l" stroke="${colour(index)}" points="${points.join(' ')}"/>`
  })
  const unit = fieldConfig?.defaults.unit ?? 'short'
  const floor = plot.top + up
  return `<g transform="translate(${x},${y})">
<rect width="${width}" height="${height}" rx="4" fill="#fff" stroke="#d0d7de"/>
<text class="t" x="12" y="20">${escaped(title)}</text>
<path class="a" d="M${plot.left} ${plot.top}V${floor}H${width - plot.right}"/>
<text x="${plot.left - 6}" y="${plot.top + 8}" text-anchor="end">${amount(highest, unit)}</text>
<text x="${plot.left - 6}" y="${floor}" text-anchor="end">0</text>
<text x="${plot.left}" y="${floor + 14}">0 min</text>
<text x="${width - plot.right}" y="${floor + 14}" text-anchor="end">${
    ((to - from) / 60).toFixed(0)
  } min</text>
${marks.map((at) => `<path class="m" d="M${px(at)} ${plot.top}V${floor}"/>`).join('')}
${lines.join('\n')}
${legends(all.map(({ name }) => name), floor + 28)}
</g>`
}

/** Names of the first series, as far as they fit. */
function legends(names: string[], y: number): string {
  let x = 12
  const written: string[] = []
  for (const [index, name] of names.entries()) {
    const wide = 18 + name.length * 7
    if (x + wide > width - 12) {
      written.push(`<text x="${x}" y="${y}">… ${names.length - index} more</text>`)
      break
    }
    written.push(`<rect x="${x}" y="${y - 8}" width="8" height="8" fill="${colour(index)}"/>`)
    written.push(`<text x="${x + 11}" y="${y}">${escaped(name)}</text>`)
    x += wide
  }
  return written.join('')
}

function legend(format: string, metric: Record<string, string>): string {
  return format.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => metric[name] ?? '').trim()
}

function amount(value: number, unit: string): string {
  const short = value >= 1e6
    ? `${(value / 1e6).toFixed(1)}M`
    : value >= 1000
    ? `${(value / 1000).toFixed(1)}k`
    : value >= 10
    ? value.toFixed(0)
    : value.toPrecision(2)
  return unit === 's' ? `${short} s` : unit === 'ops' ? `${short}/s` : short
}

function colour(index: number): string {
  return colours[index % colours.length] ?? '#64748b'
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
