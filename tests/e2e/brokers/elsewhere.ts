import { join } from 'node:path'
import type { Endpoint } from '../../../functions/_shared/contract/contract.ts'
import { ensureTool } from '../../../supabase/local/npm_tool.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { edgeDeno } from '../../_run/tools.ts'
import { builtForNode, nodeCommand } from '../../_support/node.ts'

const program = 'tests/e2e/brokers/send.ts'

/** The other runtimes that send to brokers: the Deno that the edge runtime is made of, and Node. */
export const elsewhere: readonly [string, (endpoints: Endpoint[]) => Promise<unknown>][] = [
  ['the Deno of the edge runtime', sendUnderEdgeDeno],
  ['Node', sendUnderNode],
]

/** The outcomes of one event for each endpoint. */
async function sendUnderEdgeDeno(endpoints: Endpoint[]): Promise<unknown> {
  const deno = join(await ensureTool(projectRoot, 'deno', edgeDeno), 'deno')
  return await outcomes(deno, ['run', '-A', '--cached-only', '--no-check', program], endpoints)
}

async function sendUnderNode(endpoints: Endpoint[]): Promise<unknown> {
  return await outcomes(await nodeCommand(), [await builtForNode(program)], endpoints)
}

async function outcomes(command: string, args: string[], endpoints: Endpoint[]): Promise<unknown> {
  const { success, stdout, stderr } = await new Deno.Command(command, {
    args: [...args, ...endpoints.map((endpoint) => JSON.stringify(endpoint))],
    cwd: projectRoot,
    // What the process is told must not weaken the checks of TLS.
    env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    stdin: 'null',
  }).output()
  const decoder = new TextDecoder()
  if (!success) throw new Error(decoder.decode(stderr))
  return JSON.parse(decoder.decode(stdout))
}
