/**
 * Evaluates the strict jsonpath of a translated filter and counts the work: one for each value that a
 * step reads or finds, and one for each comparison. Other work of Postgres is constant for each of these.
 */

type Step =
  | { kind: 'member'; name: string }
  | { kind: 'element'; index: number | 'last' }
  | { kind: 'every' | 'size' | 'type' }
  | { kind: 'members' }
  | { kind: 'where'; condition: Condition }

type Path = { root: '$' | '@'; steps: Step[] }

type Condition =
  | { kind: 'and' | 'or'; parts: Condition[] }
  | { kind: 'not'; part: Condition }
  | { kind: 'exists'; path: Path }
  | { kind: 'compare'; path: Path; operator: string; literal: unknown }

/** Reads jsonpath as Postgres writes it. */
export function readCondition(text: string): Condition {
  const words = text.replace(/^strict /, '').match(
    /"(?:[^"\\]|\\.)*"|starts with|exists|\.size\(\)|\.type\(\)|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|true|false|null|last|&&|\|\||[=!<>]=|[<>!().$@?*[\]]/g,
  ) ?? []
  let at = 0
  const take = (word?: string): string => {
    const next = words[at++]
    if (next === undefined || word !== undefined && next !== word) {
      throw new Error(`expected ${word ?? 'a word'}, not ${next} at ${at} of ${text}`)
    }
    return next
  }
  const joined = (kind: 'and' | 'or', word: string, part: () => Condition): Condition => {
    const parts = [part()]
    while (words[at] === word) {
      take()
      parts.push(part())
    }
    const [only] = parts
    return parts.length === 1 && only !== undefined ? only : { kind, parts }
  }
  const either = (): Condition => joined('or', '||', both)
  const both = (): Condition => joined('and', '&&', unary)
  const within = <Inner>(inner: () => Inner): Inner => {
    take('(')
    const found = inner()
    take(')')
    return found
  }
  const unary = (): Condition => {
    if (words[at] === '!') {
      take()
      return { kind: 'not', part: within(either) }
    }
    if (words[at] === '(') return within(either)
    if (words[at] === 'exists') {
      take()
      return { kind: 'exists', path: within(path) }
    }
    const compared = path()
    const operator = take()
    return { kind: 'compare', path: compared, operator, literal: JSON.parse(take()) }
  }
  const path = (): Path => {
    const root = take() === '$' ? '$' : '@'
    const steps: Step[] = []
    while (true) {
      if (words[at] === '.size()' || words[at] === '.type()') {
        steps.push({ kind: take() === '.size()' ? 'size' : 'type' })
      } else if (words[at] === '.') {
        take()
        const name = take()
        steps.push(name === '*' ? { kind: 'members' } : { kind: 'member', name: JSON.parse(name) })
      } else if (words[at] === '[') {
        take()
        const index = take()
        steps.push(
          index === '*'
            ? { kind: 'every' }
            : { kind: 'element', index: index === 'last' ? 'last' : Number(index) },
        )
        take(']')
      } else if (words[at] === '?') {
        take()
        steps.push({ kind: 'where', condition: within(either) })
      } else return { root, steps }
    }
  }
  const condition = either()
  if (at !== words.length) throw new Error(`${words[at]} at ${at} of ${text}`)
  return condition
}

/** Null means unknown. */
type Truth = boolean | null

/** Whether a payload makes a condition true, and the work to evaluate it. */
export function evaluate(
  condition: Condition,
  payload: unknown,
): { passes: boolean; work: number } {
  let work = 0

  function truthOf(one: Condition, current: unknown): Truth {
    switch (one.kind) {
      case 'not': {
        const truth = truthOf(one.part, current)
        return truth === null ? null : !truth
      }
      case 'and':
      case 'or': {
        const ends = one.kind === 'or'
        let joined: Truth = !ends
        for (const part of one.parts) {
          const truth = truthOf(part, current)
          if (truth === ends) return ends
          if (truth === null) joined = null
        }
        return joined
      }
      case 'exists': {
        const found = valuesOf(one.path, current)
        return found === null ? null : found.length > 0
      }
      case 'compare': {
        const found = valuesOf(one.path, current)
        if (found === null) return null
        let is: Truth = false
        for (const value of found) {
          work++
          const truth = compare(value, one.operator, one.literal)
          if (truth === null) return null
          is ||= truth
        }
        return is
      }
    }
  }

  /** Null is an error of strict mode. */
  function valuesOf({ root, steps }: Path, current: unknown): unknown[] | null {
    let values = [root === '$' ? payload : current]
    for (const step of steps) {
      const next: unknown[] = []
      for (const value of values) {
        const found = stepOn(step, value)
        if (found === null) return null
        next.push(...found)
      }
      values = next
    }
    return values
  }

  function stepOn(step: Step, value: unknown): unknown[] | null {
    if (step.kind === 'where') return truthOf(step.condition, value) === true ? [value] : []
    const found = find(step, value)
    const isWild = step.kind === 'every' || step.kind === 'members'
    work += isWild ? found?.length ?? 1 : 1
    return found
  }

  const passes = truthOf(condition, payload) === true
  return { passes, work }
}

function find(step: Exclude<Step, { kind: 'where' }>, value: unknown): unknown[] | null {
  const isArray = Array.isArray(value)
  const object = typeof value === 'object' && value !== null && !isArray ? value : null
  switch (step.kind) {
    case 'size':
      return isArray ? [value.length] : null
    case 'type':
      return [value === null ? 'null' : isArray ? 'array' : typeof value]
    case 'every':
      return isArray ? value : null
    case 'members':
      return object === null ? null : Object.values(object)
    case 'member':
      return object === null || !Object.hasOwn(object, step.name)
        ? null
        : [Object.getOwnPropertyDescriptor(object, step.name)?.value]
    case 'element': {
      if (!isArray) return null
      const index = step.index === 'last' ? value.length - 1 : step.index
      return index >= 0 && index < value.length ? [value[index]] : null
    }
  }
}

function compare(value: unknown, operator: string, literal: unknown): Truth {
  if (operator === 'starts with') {
    return typeof value === 'string' && typeof literal === 'string'
      ? value.startsWith(literal)
      : null
  }
  if (value === null || literal === null) {
    if (value === null && literal === null) return operator === '=='
    return operator === '!='
  }
  if (typeof value !== typeof literal || typeof value === 'object') return null
  switch (operator) {
    case '==':
      return value === literal
    case '!=':
      return value !== literal
  }
  if (typeof value === 'boolean') return null
  // SAFETY: both are texts or both are numbers, which the type of one tells of both.
  const [left, right] = [value, literal] as [number, number]
  return operator === '<'
    ? left < right
    : operator === '<='
    ? left <= right
    : operator === '>'
    ? left > right
    : left >= right
}

/** How many values a payload has: itself, and every member and element in it. */
export function countValues(payload: unknown): number {
  if (typeof payload !== 'object' || payload === null) return 1
  return Object.values(payload).reduce((sum: number, one) => sum + countValues(one), 1)
}
