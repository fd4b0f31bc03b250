import { join } from 'node:path'
import { SetupError } from '../../supabase/local/errors.ts'

/** Generates types from openapi.json. */
export const typeGenerator = ['openapi-typescript', '7.13.0'] as const

/** By default it would require each member that has a default. */
export const typeFlags: readonly string[] = ['--default-non-nullable=false']

/** The paths of the generated files from the root of the project. */
export const clientTypesFile = 'package/client/openapi.types.ts'
export const clientOperationsFile = 'package/client/operations.ts'

/** The parts of openapi.json that the table of operations needs. */
interface Description {
  paths: Record<string, Record<string, DescribedOperation>>
}

interface DescribedOperation {
  operationId: string
  responses: Record<string, unknown>
  security?: unknown[]
  parameters?: { name: string; in: string }[]
}

/**
 * The types of the client, from the text of openapi.json. `programs` has the generator. Responses to
 * refused requests are left out: all have the same body, and they would be most of the text.
 */
export async function clientTypesText(programs: string, description: string): Promise<string> {
  // SAFETY: the text is the project's own openapi.json, of which a test checks the form.
  const document = JSON.parse(description) as Description
  for (const operation of Object.values(document.paths).flatMap(Object.values)) {
    const responses = Object.entries(operation.responses)
    operation.responses = Object.fromEntries(responses.filter(([code]) => code.startsWith('2')))
  }
  const draft = await Deno.makeTempFile({ suffix: '.json' })
  try {
    await Deno.writeTextFile(draft, JSON.stringify(document))
    return await generate(programs, draft)
  } finally {
    await Deno.remove(draft)
  }
}

async function generate(programs: string, path: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(join(programs, typeGenerator[0]), {
    args: [path, ...typeFlags],
    env: { NO_COLOR: '1' },
  }).output()
  if (!success) throw new SetupError(new TextDecoder().decode(stderr).trim())
  return `// Written by \`deno task openapi\` from functions/api/openapi.json.\n` +
    `// deno-lint-ignore-file\n${new TextDecoder().decode(stdout).trim()}\n`
}

/** The table of operations of the client. It leaves out callbacks, which need no credentials. */
export function clientOperationsText(description: string): string {
  // SAFETY: the text is the project's own openapi.json, of which a test checks the form.
  const { paths } = JSON.parse(description) as Description
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security = [] }]) => security.length > 0)
      .map(([method, operation]) => row(path, method, operation))
  )
  return `// Written by \`deno task openapi\` from functions/api/openapi.json.\n\n` +
    `/** The operations of the API by operationId. */\n` +
    `export const operations = {\n${rows.join('')}} as const\n`
}

function row(path: string, method: string, operation: DescribedOperation): string {
  const { operationId, parameters = [] } = operation
  const isKeyed = parameters.some((one) => one.in === 'header' && one.name === 'idempotency-key')
  const keyed = isKeyed ? ', keyed: true' : ''
  return `  ${operationId}: { method: '${method.toUpperCase()}', path: '${path}'${keyed} },\n`
}
