/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type UPlot from 'uplot'
import { number } from '../app/format.ts'
import { currentZone } from '../app/zone.ts'
import { Time } from './value.tsx'

/** Bars over time: what was delivered, and what failed on top of it. */
export interface Bars {
  /** Unix seconds, in equal steps. */
  times: number[]
  delivered: number[]
  failed: number[]
}

/** Draws the bars. The same numbers are in a table for those who do not see the picture. */
export function BarChart({ bars, summary }: { bars: Bars; summary: string }): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot | null>(null)
  const latest = useRef(bars)
  latest.current = bars
  useEffect(() => {
    const host = box.current
    if (host === null) return
    let isGone = false
    const draw = async (): Promise<void> => {
      const { default: Plot } = await import('uplot')
      if (isGone) return
      plot.current?.destroy()
      plot.current = new Plot(options(Plot, host), stacked(latest.current), host)
    }
    const resized = new ResizeObserver(() => {
      plot.current?.setSize({ width: host.clientWidth, height: chartHeight })
    })
    resized.observe(host)
    const redraw = (): void => void draw()
    addEventListener('outhook-theme', redraw)
    addEventListener('outhook-zone', redraw)
    const system = matchMedia('(prefers-color-scheme: dark)')
    system.addEventListener('change', redraw)
    redraw()
    return () => {
      isGone = true
      resized.disconnect()
      removeEventListener('outhook-theme', redraw)
      removeEventListener('outhook-zone', redraw)
      system.removeEventListener('change', redraw)
      plot.current?.destroy()
      plot.current = null
    }
  }, [])
  useEffect(() => plot.current?.setData(stacked(bars)), [bars])
  return (
    <figure class='chart'>
      <div ref={box} role='img' aria-label={summary} />
      <details>
        <summary>The numbers as a table</summary>
        <div class='table-box'>
          <table>
            <thead>
              <tr>
                <th scope='col'>Time</th>
                <th scope='col' class='num'>Delivered</th>
                <th scope='col' class='num'>Failed</th>
              </tr>
            </thead>
            <tbody>
              {bars.times.map((time, i) =>
                [time, bars.delivered[i] ?? 0, bars.failed[i] ?? 0] as const
              )
                .filter(([, good, bad]) => good + bad > 0)
                .map(([time, good, bad]) => (
                  <tr key={time}>
                    <td>
                      <Time at={new Date(time * 1000).toISOString()} />
                    </td>
                    <td class='num'>{number(good)}</td>
                    <td class='num'>{number(bad)}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  )
}

const chartHeight = 190

/** The failures stand on the deliveries, so their bar is drawn behind with the height of both. */
function stacked({ times, delivered, failed }: Bars): UPlot.AlignedData {
  return [times, delivered.map((n, i) => n + (failed[i] ?? 0)), delivered]
}

/** Hours, or days if the chart shows more than two of them. */
function axisTimes({ scales }: UPlot, ticks: number[]): string[] {
  const { min = 0, max = 0 } = scales.x ?? {}
  const zone = currentZone() === 'UTC' ? { timeZone: 'UTC' } : {}
  const form = new Intl.DateTimeFormat(
    'en-GB',
    (max ?? 0) - (min ?? 0) > 2 * 86_400
      ? { day: 'numeric', month: 'short', ...zone }
      : { hour: '2-digit', minute: '2-digit', ...zone },
  )
  return ticks.map((seconds) => form.format(seconds * 1000))
}

function options(Plot: typeof UPlot, host: HTMLElement): UPlot.Options {
  const style = getComputedStyle(host)
  const colour = (name: string): string => style.getPropertyValue(name).trim()
  const bars = Plot.paths.bars?.({ size: [0.7, 40], radius: 0.15 })
  const axis = {
    stroke: colour('--chart-text'),
    grid: { stroke: colour('--chart-grid'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  }
  const series = (name: string): UPlot.Series => ({
    fill: colour(name),
    stroke: colour(name),
    width: 0,
    points: { show: false },
    ...bars === undefined ? {} : { paths: bars },
  })
  return {
    width: Math.max(200, host.clientWidth),
    height: chartHeight,
    legend: { show: false },
    cursor: { show: false },
    tzDate: (seconds) => {
      const at = new Date(seconds * 1000)
      return currentZone() === 'UTC' ? Plot.tzDate(at, 'Etc/UTC') : at
    },
    scales: { y: { range: (_, _low, high) => [0, Math.max(4, high * 1.1)] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 80,
        values: (plot, ticks) => axisTimes(plot, ticks),
      },
      {
        ...axis,
        size: 46,
        values: (_, ticks) => ticks.map((n) => Number.isInteger(n) ? number(n) : ''),
      },
    ],
    series: [{}, series('--chart-bad'), series('--chart-good')],
  }
}
