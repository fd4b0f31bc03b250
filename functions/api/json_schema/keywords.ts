import { addAnyChecks } from './any_type.ts'
import { addArrayChecks } from './arrays.ts'
import { addBranchChecks } from './branches.ts'
import { addDependentChecks } from './dependents.ts'
import { addNumberChecks } from './numbers.ts'
import { addObjectChecks } from './objects.ts'
import { readMap, type Source } from './source.ts'
import { addStringChecks } from './strings.ts'

type Add = (source: Source) => void

/** The keywords that each function reads, in the order of the checks: what is cheap comes first. */
const groups: [add: Add, keywords: string][] = [
  [addAnyChecks, 'type const enum'],
  [addNumberChecks, 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'],
  [addStringChecks, 'minLength maxLength pattern format'],
  [
    addBranchChecks,
    '$ref $dynamicRef $recursiveRef allOf anyOf oneOf not if then else',
  ],
  [addDependentChecks, 'dependentRequired dependentSchemas dependencies'],
  [
    addObjectChecks,
    'required minProperties maxProperties propertyNames properties patternProperties ' +
    'additionalProperties unevaluatedProperties',
  ],
  [
    addArrayChecks,
    'minItems maxItems uniqueItems prefixItems items contains minContains maxContains ' +
    'unevaluatedItems',
  ],
  [addDefinitions, '$defs definitions'],
]

const groupOf = new Map(groups.flatMap(([, keywords], group) => {
  return keywords.split(' ').map((keyword): [string, number] => [keyword, group])
}))

/** The functions that add the checks of a schema. */
export function keywordsOf(raw: Record<string, unknown>): Add[] {
  const found = new Set(Object.keys(raw).map((keyword) => groupOf.get(keyword)))
  return groups.flatMap(([add], group) => found.has(group) ? [add] : [])
}

/** Compiled although nothing may refer to them: an error in them is found when it is made. */
function addDefinitions(source: Source): void {
  for (const name of ['$defs', 'definitions']) {
    for (const [key, raw] of readMap(source, name)) {
      source.part(raw, `${source.path}.${name}.${key}`)
    }
  }
}
