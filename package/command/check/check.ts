import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Assets } from '../init/plan.ts'
import { readProject } from '../init/project.ts'
import type { UpgradeAssets } from '../upgrade/plan.ts'
import { exitCodes, type Terminal } from '../terminal.ts'
import { callDataApi, type Target } from '../remote/data_api.ts'
import type { Facts } from '../remote/facts.ts'
import type { Finding } from './finding.ts'
import { askFunction, functionAddresses, type FunctionState } from '../remote/functions.ts'
import { judgeAccess } from './judge_access.ts'
import { judgeClocks } from './judge_clock.ts'
import { judgeDatabase } from './judge_database.ts'
import { judgeKicks, judgeTest } from './judge_delivery.ts'
import { judgeFiles } from './judge_files.ts'
import { judgeFunctions } from './judge_functions.ts'
import { type Report, showReport, withoutSecrets } from './report.ts'
import { readTarget, type TargetOptions } from '../remote/target.ts'
import { testDelivery, type TestResult } from './test_delivery.ts'

/** How a project is checked. */
export interface CheckManner {
  /** The folder that has `supabase/`. */
  project: string
  /** False: no test event. */
  test: boolean
  /** The longest time for the test event, in seconds. */
  timeout: number
  json: boolean
  report?: string
}

/** The options of `outhook check`. */
export type CheckOptions = CheckManner & TargetOptions

/** Checks a project, prints the findings, and returns the exit code. */
export async function check(
  assets: Assets & { upgrades?: UpgradeAssets['migrations'] },
  options: CheckOptions,
  terminal: Terminal,
): Promise<number> {
  const target = await readTarget(options, process.env, terminal, 'check')
  if ('says' in target) {
    terminal.printError(target.says)
    return target.code
  }
  return await checkTarget(assets, target, options, terminal)
}

/** Checks this project, prints the findings, and returns the exit code. */
export async function checkTarget(
  assets: Assets & { upgrades?: UpgradeAssets['migrations'] },
  target: Target,
  options: CheckManner,
  terminal: Terminal,
): Promise<number> {
  const { findings, facts } = await findAll(assets, target, options)
  const report: Report = {
    command: assets.version,
    project: target.url,
    checkedAt: new Date().toISOString(),
    findings,
  }
  const json = JSON.stringify(report, null, 2)
  terminal.print(withoutSecrets(options.json ? json : showReport(report), target.key))
  if (options.report !== undefined) {
    const { platform, arch, versions } = process
    const machine = { platform, arch, node: versions.node }
    const text = JSON.stringify({ ...report, machine, facts }, null, 2)
    try {
      writeFileSync(options.report, `${withoutSecrets(text, target.key)}\n`)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      terminal.printError(`The report cannot be written: ${why}`)
      return exitCodes.failed
    }
    terminal.printError(`The report is in ${options.report}. Read it before you share it`)
  }
  return findings.some(({ status }) => status === 'error') ? exitCodes.findings : exitCodes.done
}

/** All findings, and the facts of the database at the end; null if it could not be read. */
async function findAll(
  assets: Assets & { upgrades?: UpgradeAssets['migrations'] },
  target: Target,
  options: CheckManner,
): Promise<{ findings: Finding[]; facts: Facts | null }> {
  const { version } = assets
  const supabase = join(options.project, 'supabase')
  const project = readProject(supabase)
  const files = judgeFiles(
    assets,
    project,
    (file) => readFileSync(join(supabase, 'migrations', file), 'utf8'),
  )
  const first = await callDataApi<Facts>(target, 'check_installation', {})
  const before = first.ok ? first.data : null
  const functionsUrl = before?.configured.functions_url ?? null
  const states = first.ok || first.problem.kind !== 'unreachable'
    ? await Promise.all(
      functionAddresses(target, functionsUrl, project?.own ?? [])
        .map((address) => askFunction(address, target)),
    )
    : []
  const access = judgeAccess(first.ok ? null : first.problem)
  if (!first.ok || before === null) {
    const functions = judgeFunctions(states, version, null)
    return { findings: [...files, ...access, ...functions], facts: null }
  }
  const whyNot = reasonNotToTest(options, before, states)
  const test = whyNot === null && functionsUrl !== null
    ? await testDelivery(target, functionsUrl, options.timeout * 1000)
    : null
  const last = await callDataApi<Facts>(target, 'check_installation', {})
  const facts = last.ok ? last.data : before
  const middle = (first.startedAt + first.endedAt) / 2
  const clocks = {
    databaseMs: Date.parse(before.at) - middle,
    functionMs: states.find(({ name }) => name === 'deliver')?.aheadMs ?? null,
  }
  return {
    facts,
    findings: [
      ...files,
      ...access,
      ...judgeDatabase(facts, version),
      judgeClocks(clocks),
      ...judgeFunctions(states, version, facts),
      judgeKicks(facts, test === null ? null : before.at, isDelivered(test)),
      judgeTest(test, whyNot ?? ''),
    ],
  }
}

/** Why no test event is sent; null if one is. */
function reasonNotToTest(
  { test }: CheckManner,
  { configured, runs }: Facts,
  states: readonly FunctionState[],
): string | null {
  if (!test) return 'No test event was sent, because of --no-test'
  if (configured.functions_url === null) {
    return (runs['worker'] ?? 0) > 0
      ? 'A worker delivers, and there is no function that could receive a test event'
      : 'No test event was sent, because the database does not know the function'
  }
  const deliver = states.find(({ name }) => name === 'deliver')
  if (deliver?.version !== null && deliver !== undefined) return null
  return 'No test event was sent, because the function deliver does not respond as it should'
}

function isDelivered(test: TestResult | null): boolean {
  return test?.step === 'sent' && test.event?.attempts[0]?.outcome === 'delivered'
}
