/** Finds the function of a call by the names of its values, as PostgREST does. */
import type { Routine, RoutineName } from './catalog.ts'
import { RestFailure } from './failure.ts'
import type { Payload } from './payload.ts'

/** How values become arguments: by name, or the whole body as the one unnamed parameter. */
export interface Binding {
  routine: Routine
  whole: boolean
}

/** Finds the function whose parameters match the payload's names; types do not matter. */
export function chooseRoutine(
  routines: Routine[],
  routineName: RoutineName,
  payload: Payload,
): Binding | RestFailure {
  const callable = routines.filter(isCallable)
  const byName = callable.filter((candidate) => fitsNames(candidate, payload))
  const fitting = byName.length > 0 ? byName : callable.filter((candidate) => {
    return fitsWhole(candidate, payload)
  })
  const [first, second] = fitting
  if (first === undefined) return notFound(routineName, payload, routines[0])
  if (second !== undefined) return ambiguous(routineName, fitting)
  return { routine: first, whole: byName.length === 0 }
}

/** A function with unnamed parameters can be called only if it has exactly one. */
function isCallable({ parameters }: Routine): boolean {
  return parameters.length === 1 || parameters.every(({ name }) => name !== '')
}

function fitsNames({ parameters }: Routine, { kind, keys }: Payload): boolean {
  if (kind === 'raw') return false
  if (parameters.some(({ name }) => name === '')) return false
  const known = new Set(parameters.map(({ name }) => name))
  return keys.every((key) => known.has(key)) &&
    parameters.every(({ name, required }) => !required || keys.includes(name))
}

function fitsWhole({ parameters: [only, ...others] }: Routine, payload: Payload): boolean {
  return only !== undefined && others.length === 0 && only.name === '' &&
    payload.wholeTypes.includes(only.type)
}

/** `other` has the name and different parameters: it is suggested. */
function notFound(
  { schema, name }: RoutineName,
  payload: Payload,
  other: Routine | undefined,
): RestFailure {
  const keys = payload.keys.toSorted()
  const called = `${schema}.${name}`
  const raw = payload.kind === 'raw'
  const list = keys.length === 0 ? ' without parameters' : `(${keys.join(', ')})`
  const plural = keys.length > 1 ? 'parameters' : 'parameter'
  const named = keys.length === 0 ? ' without parameters' : ` with ${plural} ${keys.join(', ')}`
  const whole = payload.wholeTypes.length === 0
    ? ''
    : `${raw ? '' : ' or'} with a single unnamed ${payload.wholeTypes.join('/')} parameter`
  return new RestFailure(
    404,
    'PGRST202',
    `Could not find the function ${called}${raw ? '' : list} in the schema cache`,
    `Searched for the function ${called}${raw ? '' : named}${whole}, ` +
      'but no matches were found in the schema cache.',
    other === undefined
      ? null
      : `Perhaps you meant to call the function ${called}(${
        other.parameters.map((each) => each.name).join(', ')
      })`,
  )
}

function ambiguous({ schema, name }: RoutineName, routines: Routine[]): RestFailure {
  const candidates = routines.map(({ parameters }) => {
    const list = parameters.map((each) => `${each.name} => ${each.type}`).join(', ')
    return `${schema}.${name}(${list})`
  })
  return new RestFailure(
    300,
    'PGRST203',
    `Could not choose the best candidate function between: ${candidates.join(', ')}`,
    null,
    'Try renaming the parameters or the function itself in the database so function overloading ' +
      'can be resolved',
  )
}
