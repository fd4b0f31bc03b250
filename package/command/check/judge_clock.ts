import { error, type Finding, ok, warning } from './finding.ts'

/** How far a clock may differ before somebody should look. A kick is valid for 300 s. */
const warnMs = 30_000
const mostMs = 240_000

/** How far two clocks are ahead of that of this machine; null if it was not measured. */
export interface Clocks {
  databaseMs: number
  functionMs: number | null
}

/** Whether kicks and signatures are valid on the other side. */
export function judgeClocks({ databaseMs, functionMs }: Clocks): Finding {
  const id = 'clock'
  const apart = functionMs === null ? 0 : Math.abs(functionMs - databaseMs)
  if (apart > warnMs) {
    const says = `The clocks of the function and the database differ by ${seconds(apart)} s`
    const remedy = 'Correct the clocks. With more than 300 s, the function refuses every kick'
    return apart > mostMs ? error(id, says, remedy) : warning(id, says, remedy)
  }
  if (Math.abs(databaseMs) > warnMs) {
    return warning(
      id,
      `The clocks of the database and of this machine differ by ${seconds(databaseMs)} s`,
      'Correct the clock of this machine. A receiver on it would refuse webhooks after 300 s',
    )
  }
  return ok(id, `The clocks differ by less than ${seconds(warnMs)} s`)
}

function seconds(ms: number): number {
  return Math.round(Math.abs(ms) / 1000)
}
