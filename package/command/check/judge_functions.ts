import type { ContractRange, Facts } from '../remote/facts.ts'
import { error, type Finding, ok, skipped, warning } from './finding.ts'
import type { FunctionState } from '../remote/functions.ts'

const page = 'docs/deploying.md#when-nothing-arrives'

/** What the responses of the functions say: whether each is deployed, and of which version. */
export function judgeFunctions(
  states: readonly FunctionState[],
  version: string,
  facts: Facts | null,
): Finding[] {
  return states.map((state) => {
    const workerDelivers = state.name === 'deliver' && facts !== null &&
      (facts.runs['worker'] ?? 0) > 0 && facts.configured.stored === 0
    if (workerDelivers) {
      return skipped('function-deliver', 'A worker delivers, so the function was not checked')
    }
    return judgeFunction(state, version, facts)
  })
}

function judgeFunction(state: FunctionState, version: string, facts: Facts | null): Finding {
  const { name, url, status, problem, contracts } = state
  const id = `function-${name}`
  const folder = folderOf(url)
  const deploy = `supabase functions deploy ${folder}`
  if (status === null) {
    return error(
      id,
      `The function ${folder} does not respond: ${problem}`,
      'Try again. If it is the same, see the log of the function',
      page,
    )
  }
  if (status === 401 || status === 403) {
    return error(
      id,
      `The gateway refuses requests to the function ${folder} (${status})`,
      `Set verify_jwt = false for it in supabase/config.toml, and run ${deploy}`,
      page,
    )
  }
  if (status === 404) {
    return error(
      id,
      `There is no function ${folder}`,
      `Run ${deploy}. If it has another name, pass its URL to outbox.configure()`,
      page,
    )
  }
  if (state.version === null) {
    return error(
      id,
      `The function ${folder} responded ${status}: ${problem ?? 'not as Outhook does'}`,
      'See the log of the function. If it is a function of your own, give that of Outhook another ' +
        'name, and pass its URL to outbox.configure()',
      page,
    )
  }
  if (contracts !== null && facts !== null && !overlap(contracts, facts.contracts)) {
    return error(
      id,
      `The function ${folder} and the database have no common contract`,
      'Deploy the functions and push the migrations of the same version',
      'docs/deploying.md#upgrading',
    )
  }
  if (state.version !== version) {
    return warning(
      id,
      `The function ${folder} is of Outhook ${state.version}, not of ${version}`,
      `Run ${deploy} with the functions of ${version}`,
      'docs/deploying.md#upgrading',
    )
  }
  return ok(id, `The function ${folder} is deployed with version ${version}`)
}

/** The name in the project: the last part of the URL that is not the name of a path of Outhook. */
function folderOf(url: string): string {
  const [, folder] = /\/functions\/v1\/([^/]+)/.exec(url) ?? []
  return folder ?? url
}

function overlap(left: ContractRange, right: ContractRange): boolean {
  return left.oldest <= right.newest && right.oldest <= left.newest
}
