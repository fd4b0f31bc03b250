import type { ContractRefusal } from '../_shared/contract/range.ts'
import type { DispatchResponse } from '../_shared/contract/contract.ts'
import type { EndReason } from './state.ts'

/** Why a run gets nothing from the database, as the response to its kick reports it. */
export type RunRefusal = { status: 409 | 503; code: string; title: string; detail: string }

/** Why the database refuses a run because of its project, with the response to its kick. */
const stops: ReadonlyMap<string, Pick<RunRefusal, 'status' | 'title'>> = new Map([
  ['another_project', { status: 503, title: 'The database belongs to another project' }],
  ['no_project', { status: 503, title: 'The run names no project' }],
  ['foreign_kick', { status: 409, title: 'The kick comes from another database' }],
  ['deciding', { status: 503, title: 'The project of the database is being decided' }],
])

/** The refusal of a run because the versions of functions and database do not work together. */
export function contractRefused({ update, message }: ContractRefusal): RunRefusal {
  return {
    status: 503,
    code: 'contract_mismatch',
    title: `Update the ${update}`,
    detail: message,
  }
}

/** The refusal of a run because of its project or its kick; null if the response has none. */
export function projectRefused(
  { stop, problem }: Pick<DispatchResponse, 'stop' | 'problem'>,
): RunRefusal | null {
  const known = stops.get(stop ?? '')
  if (stop === null || known === undefined) return null
  return { ...known, code: stop, detail: problem ?? known.title }
}

/** Whether a run that ends for this reason at its first call is not stored, so it cannot be ended. */
export function isNeverStored(end: EndReason | null): boolean {
  return end === 'stop:too_many_runs' || isProjectStop(end)
}

/** Whether a run ends for this reason because of its project. */
export function isProjectStop(end: EndReason | null): boolean {
  return end !== null && end.startsWith('stop:') && stops.has(end.slice('stop:'.length))
}
