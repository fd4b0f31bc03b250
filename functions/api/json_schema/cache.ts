import { ApiError } from '../errors.ts'
import type { Steps } from '../steps.ts'
import { compileSchema } from './compile.ts'
import type { Node } from './node.ts'

/** `root` is the reason if the schema cannot be used, so that this is not found again each time. */
type Entry = { root: Node | ApiError; steps: number }

/** The steps of compiling all schemas that are kept, which may then take about 100 MB. */
const mostSteps = 20_000_000
/** Counted for a schema that cannot be used, because its error does not tell how far it got. */
const stepsOfRefused = 65_536

/** Compiled schemas. The one that was compiled first is dropped first. */
export class CompiledSchemas {
  readonly #entries = new Map<object, Entry>()
  readonly #most: number
  #steps = 0

  constructor(most = mostSteps) {
    this.#most = most
  }

  /** How many schemas are kept. */
  get size(): number {
    return this.#entries.size
  }

  /**
   * The compiled form of a schema, which is compiled if it is not kept; `steps` then counts the work.
   * Throws ApiError for a schema that cannot check payloads.
   */
  read(schema: Record<string, unknown> | boolean, steps: Steps): Node {
    if (typeof schema === 'boolean') return compileSchema(schema).root
    let entry = this.#entries.get(schema)
    if (entry === undefined) {
      entry = compile(schema)
      steps.addCompiled(entry.steps)
      this.#keep(schema, entry)
    }
    if (entry.root instanceof ApiError) throw entry.root
    return entry.root
  }

  #keep(schema: object, entry: Entry): void {
    this.#entries.set(schema, entry)
    this.#steps += entry.steps
    for (const [oldest, { steps }] of this.#entries) {
      if (this.#steps <= this.#most) return
      this.#entries.delete(oldest)
      this.#steps -= steps
    }
  }
}

function compile(schema: Record<string, unknown>): Entry {
  try {
    return compileSchema(schema)
  } catch (error) {
    if (error instanceof ApiError) return { root: error, steps: stepsOfRefused }
    throw error
  }
}
