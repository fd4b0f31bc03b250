/** An incident by script: what breaks, when, and what Prometheus saw of it. */

import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { testFolder } from '../../_support/folder.ts'
import type { TestEndpoint } from '../../_support/outhook.ts'
import { type Alert, type Prometheus, startPrometheus } from '../../_support/prometheus.ts'
import { startWhatsapp, type TestWhatsapp } from '../../_support/whatsapp.ts'
import type { Turn } from '../../../supabase/local/whatsapp/graph.ts'
import type { Behaviour } from '../receiver/behaviours.ts'
import { type Receiver, startReceiver } from '../receiver/receiver.ts'
import { patienceMs } from '../../_support/patience.ts'

/** How long each part lasts, in seconds. */
export interface Timing {
  calm: number
  /** From the first fault to the recovery; the database restarts in the middle. */
  faults: number
  /**
   * Alerts that must fire before the database restarts. A scrape that fails begins their `for`
   * anew, so that what half the faults' time gives them depends on the machine.
   */
  awaits: string[]
  /** Between two scrapes. */
  scrape: number
  /** Events a second for each endpoint. */
  pace: number
  /** Whether to wait at the end until the backlog is gone. */
  drain: boolean
}

/** When an alert began to fire and was over, in seconds since the first fault. */
export interface Fired {
  name: string
  from: number
  to: number | null
}

export interface Incident {
  readonly whatsapp: TestWhatsapp
  readonly prometheus: Prometheus
  readonly endpoints: Record<'well' | 'failing' | 'hanging', TestEndpoint>
  /** Unix seconds. */
  readonly began: number
  readonly brokeAt: number
  readonly mendedAt: number
  /** Seconds from the recovery until nothing of the backlog was open; null: not waited for. */
  readonly drainedIn: number | null
  readonly fired: Fired[]
  /** What the console queries said while it lasted, by file. */
  readonly console: Record<string, string>
  stop(): Promise<void>
}

/** Twice the longest `for` of what is awaited (a minute), for a machine with other work. */
const awaiting = { timeoutMs: patienceMs, everyMs: 200 }

/** What Prometheus is told: the stack's function, the alerts, and how often to look. */
function configOf({ outhook }: TestWhatsapp, scrape: number): string {
  const { host } = new URL(outhook.stack.apiUrl)
  return `global: { scrape_interval: ${scrape}s, evaluation_interval: ${scrape}s }
rule_files: [${projectRoot}/sql/ops/alerts.yml]
scrape_configs:
  - job_name: outhook
    metrics_path: /functions/v1/metrics
    authorization: { credentials: ${outhook.stack.keys.metricsToken} }
    static_configs: [{ targets: ["${host}"] }]
`
}

/**
 * Plays it: after a calm while one endpoint answers 500, one hangs and WhatsApp refuses the token;
 * the database dies and recovers in the middle; then all are mended and the backlog drains.
 */
export async function playIncident(
  timing: Timing,
  say: (line: string) => void = () => {},
): Promise<Incident> {
  const state = { broken: false }
  const also: Record<string, Behaviour> = {
    failing: ({ answer }) => answer(state.broken ? 500 : 200),
    hanging: ({ answer, pause }) => state.broken ? pause(Infinity) : answer(200),
  }
  await using started = new AsyncDisposableStack()
  const whatsapp = await startWhatsapp(['metrics'])
  started.defer(() => whatsapp.stop())
  const receiver: Receiver = startReceiver({ also })
  started.defer(() => receiver.close())
  const folder = testFolder()
  const prometheus = await startPrometheus({ folder, config: configOf(whatsapp, timing.scrape) })
  started.defer(() => Deno.remove(folder, { recursive: true }))
  started.defer(() => prometheus.stop())
  const { outhook, graph } = whatsapp
  const { sql } = outhook
  await prepare(whatsapp)

  async function endpoint(path: string, more: Record<string, unknown>): Promise<TestEndpoint> {
    const { data, error } = await outhook.client.rpc('create_endpoint', {
      p_url: `${receiver.url}/${path}`,
      p_event_types: [`${path}.*`],
      p_org_id: 'org-a',
      ...more,
    })
    if (error !== null) throw new Error(error.message)
    // SAFETY: create_endpoint() returns {"id", "secret"}.
    return { ...data as { id: string; secret: string }, path }
  }
  const endpoints = {
    well: await endpoint('well', {}),
    failing: await endpoint('failing', {}),
    hanging: await endpoint('hanging', { p_timeout_ms: 1000 }),
  }
  await sql`select outbox.grant_consent('org-a', 'dossier-1', '{UTILITY}', p_source => 'form')`
  // Some panels compare with these.
  await sql`
    select outbox.set_setting('database.disk_mib', '8192'),
      outbox.set_setting('traffic.mib_per_month', '1000')`

  // The traffic: events over the API and in SQL, messages with what WhatsApp tells of them, one
  // that consent forbids. While the database is away publishers fail, as they would.
  let going = true
  let round = 0
  async function trafficRound(): Promise<void> {
    round++
    for (const name of ['well', 'failing', 'hanging']) {
      const events = Array.from({ length: timing.pace }, () => ({
        type: `${name}.made`,
        payload: {},
        org_id: 'org-a',
      }))
      await sql`select outbox.publish_many(${sql.json(events)})`
    }
    await whatsapp.call('org-a', 'POST /events', { type: 'well.made', payload: { round } })
    await whatsapp.create('org-a', whatsapp.somebody(), { dossierId: 'dossier-1' })
    await whatsapp.call('org-a', 'POST /outbound/messages', {
      channel: 'WHATSAPP',
      to: whatsapp.somebody(),
      templateCode: 'reminder',
      payloadJson: { parameters: ['Anna'] },
      dossierId: 'without-consent',
    })
  }
  async function traffic(): Promise<void> {
    while (going) {
      const next = performance.now() + 1000
      await trafficRound().catch(() => {})
      for (const message of graph.taken.splice(0)) {
        await graph.report(message, 'sent', 'delivered', 'read').catch(() => {})
      }
      await pause(Math.max(0, next - performance.now()))
    }
  }

  const fired = new Map<string, Fired>()
  let brokeAt = 0
  async function watch(): Promise<void> {
    while (going) {
      const now = Date.now() / 1000 - brokeAt
      const firing = new Set(
        (await prometheus.alerts().catch((): Alert[] => []))
          .filter((alert) => alert.state === 'firing').map(({ name }) => name),
      )
      for (const name of firing) {
        const known = fired.get(name)
        if (known === undefined) {
          fired.set(name, { name, from: now, to: null })
          say(`${now.toFixed(0)} s: ${name} fires`)
        } else known.to = null
      }
      for (const one of fired.values()) {
        if (one.to === null && !firing.has(one.name)) {
          one.to = now
          say(`${now.toFixed(0)} s: ${one.name} is over`)
        }
      }
      await pause(1000)
    }
  }

  // One of a few people has no WhatsApp.
  const usually = ({ to }: { to: string }): Turn =>
    to.endsWith('0') ? { kind: 'refuse', fault: { code: 131026 } } : { kind: 'take' }
  graph.setTurn(usually)
  const began = Date.now() / 1000
  const working = traffic()
  await pause(timing.calm * 1000)
  brokeAt = Date.now() / 1000
  const watching = watch()
  state.broken = true
  graph.setTurn(() => ({ kind: 'refuse', fault: { code: 190 } }))
  say('0 s: one endpoint answers 500, one hangs, WhatsApp refuses the token')
  await pause(timing.faults * 500)
  if (!await waitUntil(() => timing.awaits.every((name) => fired.has(name)), awaiting)) {
    throw new Error(`of ${timing.awaits} only ${[...fired.keys()]} fired before the crash`)
  }
  await crash(whatsapp)
  say(`${(Date.now() / 1000 - brokeAt).toFixed(0)} s: the database died and is back`)
  await pause(timing.faults * 500)
  const console: Record<string, string> = {}
  for (const file of ['02_what_is_stuck', '03_who_is_failing', '04_who_is_slow']) {
    const text = await Deno.readTextFile(`${projectRoot}/sql/ops/${file}.sql`)
    const { stdout } = await outhook.stack.psql(`\\x on\n${text}`)
    console[file] = stdout
  }

  // What the runbook says: the receivers mend themselves, the token is replaced, what was held is
  // served again.
  state.broken = false
  graph.setTurn(usually)
  const channel = whatsapp.channels['org-a']
  await sql`select outbox.set_channel_token('org-a', ${channel}, 'token-101')`
  await sql`select outbox.resume_endpoint(${channel})`
  const mendedAt = Date.now() / 1000
  say(`${(mendedAt - brokeAt).toFixed(0)} s: mended`)
  const isDrained = async (): Promise<boolean> => {
    const [row] = await sql`
      select count(*) filter (where d.failed_attempts > 0 or d.due_at < now() - interval '5 s')::integer as n
      from outbox.delivery d`
    return row?.n === 0
  }
  let drainedIn: number | null = null
  if (timing.drain) {
    if (!await waitUntil(isDrained, { timeoutMs: 600_000, everyMs: 200 })) {
      throw new Error('the backlog has not drained')
    }
    drainedIn = Date.now() / 1000 - mendedAt
    say(`drained in ${drainedIn.toFixed(0)} s`)
  }
  await pause(2000 * timing.scrape)
  going = false
  await working
  await watching
  const all = started.move()
  return {
    whatsapp,
    prometheus,
    endpoints,
    began,
    brokeAt,
    mendedAt,
    drainedIn,
    fired: [...fired.values()],
    console,
    stop: () => all.disposeAsync(),
  }
}

/**
 * What a database in use has: commits that survive a crash, which those of tests need not, a tick
 * (pg_cron 1.4 begins with the next minute) and a vacuum.
 */
async function prepare({ outhook: { admin, sql } }: TestWhatsapp): Promise<void> {
  await admin`alter database postgres set synchronous_commit = on`
  await admin`
    select pg_terminate_backend(a.pid) from pg_stat_activity a
    where a.datname = current_database() and a.backend_type = 'client backend'
      and a.pid <> pg_backend_pid()`
  await waitUntil(async () => {
    try {
      const [row] = await sql`select outbox.tick(), current_setting('synchronous_commit') as on`
      await sql`vacuum outbox.gate, outbox.lane`
      return row?.on === 'on'
    } catch {
      return false
    }
  }, { timeoutMs: patienceMs })
}

/** Kills one server process, which makes Postgres end all sessions and recover. */
async function crash({ outhook }: TestWhatsapp): Promise<void> {
  const writer = `select pid from pg_stat_activity where backend_type = 'walwriter'`
  const pid = async (): Promise<string> => {
    const { stdout } = await outhook.stack.psql(writer, { as: 'supabase_admin' })
    return stdout.trim()
  }
  const before = await pid()
  Deno.kill(Number(before), 'SIGKILL')
  const isBack = async (): Promise<boolean> => {
    const now = await pid().catch(() => '')
    return now !== '' && now !== before
  }
  if (!await waitUntil(isBack, { timeoutMs: patienceMs, everyMs: 100 })) {
    throw new Error('the database has not come back')
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
