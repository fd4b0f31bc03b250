import type { Node } from './node.ts'
import { refuse } from './source.ts'

/** How many steps the schemas for one value may take, without those for its members. */
export const mostStepsOfValue = 100_000

/**
 * Throws ApiError for a schema that refers to itself for the same value, or whose parts take more
 * than 100,000 steps for one value. A few schemas that each refer to the next one twice are enough.
 */
export function checkCost(nodes: Iterable<Node>): void {
  const costs = new Map<Node, number>()
  for (const node of nodes) {
    if (costOf(node, costs) <= mostStepsOfValue) continue
    refuse(
      node.path,
      `takes more than ${mostStepsOfValue.toLocaleString('en-US')} steps for a single value`,
      'Refer to the same schema only once, instead of several times in allOf, anyOf or oneOf',
    )
  }
}

/** The largest number of steps for one value: of each keyword, and of all schemas for this value. */
function costOf(node: Node, costs: Map<Node, number>): number {
  const known = costs.get(node)
  if (known !== undefined) {
    // NaN: it is being counted.
    if (!Number.isNaN(known)) return known
    refuse(
      node.path,
      'refers to itself for the same value',
      'Refer to it from properties or items instead',
    )
  }
  costs.set(node, NaN)
  let cost = 1 + node.checks.length + node.lastChecks.length
  for (const part of node.inPlace) cost += costOf(part, costs)
  costs.set(node, cost)
  return cost
}
