import type { Facts, KickResponses } from '../remote/facts.ts'
import { error, type Finding, ok, runbook, skipped, warning } from './finding.ts'
import type { TestResult } from './test_delivery.ts'

const page = 'docs/deploying.md#when-nothing-arrives'

/** Codes by which `deliver` refuses a kick because of the project of the database. */
const copyCodes = ['another_project', 'no_project', 'foreign_kick', 'deciding']

/**
 * What the responses to kicks say since `since`: whether pg_net sends them, and whether function and
 * database have the same secret. `delivered`: whether a test event was delivered meanwhile.
 */
export function judgeKicks(
  { responses, configured }: Pick<Facts, 'responses' | 'configured'>,
  since: string | null,
  delivered: boolean,
): Finding {
  const id = 'kicks'
  if (configured.stored < 2) return skipped(id, 'No kick is sent before outbox.configure()')
  if (responses === null) {
    return error(
      id,
      'pg_net is missing, or its responses cannot be read',
      'Enable pg_net under Database, Extensions',
      runbook('Kicks wait'),
    )
  }
  const recent = responses.filter(({ last_at }) => since === null || last_at >= since)
  const known = recent.find(({ status, code }) => status === 202 || code !== null)
  if (known?.status === 202 || (known === undefined && delivered)) {
    return ok(
      id,
      known === undefined
        ? 'A live run delivered, so no kick was needed'
        : 'pg_net sends kicks, and the function accepts them: both have the same secret' +
          (known.region ? `. It ran in ${known.region}` : ''),
    )
  }
  if (known !== undefined) return judgeRefusal(known)
  const failed = recent.find(({ status, error }) => status !== null || error !== null)
  if (failed !== undefined) {
    return warning(
      id,
      `pg_net got ${failed.status ?? failed.error} and no response of Outhook`,
      'Check the URL of outbox.configure(), and the finding about the function',
      page,
    )
  }
  return skipped(id, 'No kick had a response in the last 5 minutes')
}

function judgeRefusal({ status, code }: KickResponses): Finding {
  if (code === 'invalid_kick') {
    return error(
      'kicks',
      'The function refuses kicks: its secret is not that of the database, or the ' +
        'clocks differ by more than 300 s',
      'Set OUTHOOK_WORKER_SECRET of the functions and the secret of outbox.configure() to one value',
      'docs/deploying.md#a-new-worker-secret',
    )
  }
  if (code === 'not_configured') {
    return error(
      'kicks',
      'The function has no OUTHOOK_WORKER_SECRET',
      'Run supabase secrets set OUTHOOK_WORKER_SECRET=…, with the secret of outbox.configure()',
      'docs/deploying.md#to-hosted-supabase',
    )
  }
  if (copyCodes.includes(code ?? '')) {
    return error(
      'kicks',
      `The function works for another project than this database (${code})`,
      'Decide what happens with the copy',
      'docs/copies.md',
    )
  }
  if (code === 'contract_mismatch') {
    return error(
      'kicks',
      'Functions and database have versions that do not work together',
      'Deploy the functions and push the migrations of the same version',
      'docs/deploying.md#upgrading',
    )
  }
  return warning(
    'kicks',
    `The last kick got ${status} ${code}`,
    'See the codes of the function deliver',
    'docs/errors.md',
  )
}

/** Whether a test event arrived, and after which time. */
export function judgeTest(result: TestResult | null, whyNot: string): Finding {
  const id = 'test-event'
  if (result === null) return skipped(id, whyNot)
  if (result.step === 'refused') {
    const { code, message } = result.problem
    return warning(
      id,
      `No test event was sent: ${message} (${code ?? 'no code'})`,
      'A local project may have to allow http and local addresses first',
      'docs/egress.md',
    )
  }
  const [first] = result.event?.attempts ?? []
  const waited = Math.round(result.timeoutMs / 1000)
  if (result.event === null || first === undefined) {
    return error(
      id,
      `The test event was not sent within ${waited} s`,
      'Correct the other findings first. Then see the log of the function',
      page,
    )
  }
  if (first.outcome !== 'delivered') {
    return error(
      id,
      `The test event was not delivered: ${first.error ?? first.outcome}` +
        `${first.status === null ? '' : ` (${first.status})`}`,
      'If the status is 404, deploy the function deliver of this version. Otherwise see its log',
      page,
    )
  }
  const ms = Date.parse(first.at) - Date.parse(result.event.published_at)
  const says = `A test event was delivered ${ms} ms after it was published`
  return ms <= 5_000 ? ok(id, says) : warning(
    id,
    says,
    'The start of a function takes less than a second: see its log',
    runbook('Falling behind'),
  )
}
