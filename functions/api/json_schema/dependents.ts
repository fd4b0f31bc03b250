import { missingCheck, objectCheck } from './objects.ts'
import type { Node } from './node.ts'
import { readMap, readNames, type Source } from './source.ts'

/** `dependentRequired`, `dependentSchemas`, and `dependencies`, which may be either. */
export function addDependentChecks(source: Source): void {
  const names: [name: string, needs: string[]][] = []
  const parts: [name: string, part: Node][] = []
  for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
    for (const [name, raw] of readMap(source, keyword)) {
      const path = `${source.path}.${keyword}.${name}`
      const isList = keyword === 'dependentRequired' ||
        (keyword === 'dependencies' && Array.isArray(raw))
      if (isList) names.push([name, readNames(raw, path) ?? []])
      else parts.push([name, source.part(raw, path)])
    }
  }
  for (const [name, needs] of names) {
    const findMissing = missingCheck(needs)
    source.node.checks.push(objectCheck((value, _marks, steps) => {
      return Object.hasOwn(value, name) ? findMissing(value, steps) : null
    }))
  }
  for (const [name, part] of parts) {
    source.node.inPlace.push(part)
    source.node.checks.push(objectCheck((value, marks, steps) => {
      return Object.hasOwn(value, name) ? part.check(value, marks, steps) : null
    }))
  }
}
