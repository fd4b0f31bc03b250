import { ApiError } from './errors.ts'
import { CompiledSchemas } from './json_schema/cache.ts'
import { compileSchema } from './json_schema/compile.ts'
import { Steps, TooManySteps } from './steps.ts'

/** JSON Schema 2020-12; references only within the schema. */
export type PayloadSchema = Record<string, unknown> | boolean

/** Throws ApiError for a schema that cannot check payloads. */
export function checkSchema(schema: PayloadSchema): void {
  compileSchema(schema)
}

/** Steps for the payloads of one request, and for each of their characters. Usual schemas take 1 to 2. */
const baseSteps = 500_000
const stepsPerCharacter = 5

/** What one request may take for its payloads: linear in their size, whatever their schemas are. */
export function stepsFor(characters: number): Steps {
  return new Steps(baseSteps + stepsPerCharacter * characters)
}

/** Schemas come from catalogues that are cached, so each is compiled once for each copy. */
const compiled = new CompiledSchemas()

/** Why a payload was refused: it is invalid, its schema cannot be applied, or the check takes too long. */
export type Mismatched = { kind: 'payload' | 'schema' | 'steps'; path: string; detail: string }

/**
 * Why a payload is invalid, or why its schema cannot be applied; null if it is valid.
 *
 * @param steps counts the steps of the check, up to its limit, and those of compiling the schema
 */
export function findMismatch(
  schema: PayloadSchema,
  payload: unknown,
  steps: Steps,
): Mismatched | null {
  try {
    const found = compiled.read(schema, steps).check(payload, null, steps)
    if (found === null) return null
    return { kind: 'payload', path: found.path.join('.'), detail: found.detail }
  } catch (error) {
    if (error instanceof TooManySteps) return { kind: 'steps', path: '', detail: error.message }
    // A schema that came into the catalogue without checkSchema().
    if (error instanceof ApiError) return { kind: 'schema', path: '', detail: error.message }
    throw error
  }
}
