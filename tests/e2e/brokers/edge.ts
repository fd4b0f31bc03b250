import { join } from 'node:path'
import type { Endpoint } from '../../../functions/_shared/contract/contract.ts'
import { ensureTool } from '../../../supabase/local/npm_tool.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { edgeDeno } from '../../_run/tools.ts'

/** The outcomes of one event for each endpoint, sent by the Deno that the edge runtime is made of. */
export async function sendUnderEdgeDeno(endpoints: Endpoint[]): Promise<unknown> {
  const deno = join(await ensureTool(projectRoot, 'deno', edgeDeno), 'deno')
  const { success, stdout, stderr } = await new Deno.Command(deno, {
    args: [
      'run',
      '-A',
      '--cached-only',
      '--no-check',
      'tests/e2e/brokers/edge_send.ts',
      ...endpoints.map((endpoint) => JSON.stringify(endpoint)),
    ],
    cwd: projectRoot,
    stdin: 'null',
  }).output()
  const decoder = new TextDecoder()
  if (!success) throw new Error(decoder.decode(stderr))
  return JSON.parse(decoder.decode(stdout))
}
