import type { Mutant } from './mutant.ts'
import type { Verdict } from './outcome.ts'

/** A mutant and what became of it. */
export interface Judged {
  area: string
  mutant: Mutant
  verdict: Verdict
  seconds: number
}

/** One line for a mutant that was just tried. */
export function verdictLine({ area, mutant, verdict, seconds }: Judged): string {
  const detail = verdict.kind === 'error'
    ? `: ${verdict.reason}`
    : 'by' in verdict
    ? ` by ${verdict.by}`
    : ''
  const change = `${mutant.file}: ${short(mutant.find)} → ${short(mutant.replace)}`
  return `${verdict.kind}${detail} (${seconds.toFixed(1)} s)\n  ${area}, ${change}`
}

/** A table of the areas, then each mutant that nothing noticed, and the sum. */
export function report(judged: readonly Judged[], seconds: number): string {
  const count = (list: readonly Judged[], ...kinds: Verdict['kind'][]): number =>
    list.filter(({ verdict }) => kinds.includes(verdict.kind)).length
  const names = [...new Set(judged.map(({ area }) => area))]
  const rows = names.map((name) => {
    const own = judged.filter(({ area }) => area === name)
    return [
      name,
      own.length,
      count(own, 'killed', 'killed by timeout'),
      count(own, 'equivalent'),
      count(own, 'survived'),
      count(own, 'error'),
    ].join(' | ')
  })
  const left = judged.filter(({ verdict }) => ['survived', 'error'].includes(verdict.kind))
  const killed = count(judged, 'killed', 'killed by timeout')
  const real = judged.length - count(judged, 'equivalent')
  const percent = real === 0 ? 100 : Math.floor(1000 * killed / real) / 10
  return [
    'area | mutants | killed | equivalent | survived | errors',
    ...rows,
    '',
    ...left.map((one) => `${verdictLine(one)}\n  ${one.mutant.why}`),
    `${judged.length} mutants, ${killed} killed (${percent} % of those that are not equivalent), ` +
    `${count(judged, 'killed by timeout')} of them by a timeout, ` +
    `${count(judged, 'equivalent')} equivalent, ${count(judged, 'survived')} survived, ` +
    `${count(judged, 'error')} errors, in ${(seconds / 60).toFixed(1)} minutes`,
  ].join('\n')
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line === '' ? '(nothing)' : line.length > 70 ? `${line.slice(0, 69)}…` : line
}
