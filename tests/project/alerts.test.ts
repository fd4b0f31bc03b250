import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { runTool } from '../_support/prometheus.ts'
import { findPrometheus } from '../_support/prometheus_binaries.ts'

const alerts = join(projectRoot, 'sql/ops/alerts.yml')

Deno.test('each alert fires when it should and not otherwise', async () => {
  const { promtool } = await findPrometheus()
  const rules = join(projectRoot, 'tests/project/alerts_rules.yml')
  const { success, text } = await runTool(promtool, ['test', 'rules', rules])
  expect({ success, text: success ? '' : text }).toEqual({ success: true, text: '' })
  const names = [...(await Deno.readTextFile(alerts)).matchAll(/- alert: (\w+)/g)]
    .map((match) => match[1] ?? '')
  const tests = await Deno.readTextFile(rules)
  const count = (name: string, expected: RegExp): number =>
    tests.split('alertname: ').filter((part) => part.startsWith(name) && expected.test(part)).length
  const untested = names.filter((name) =>
    count(name, /exp_alerts:\s+- exp_labels/) === 0 || count(name, /exp_alerts: \[\]/) === 0
  )
  expect(names.length).toBeGreaterThan(10)
  expect(untested).toEqual([])
})

/** Alerts about something that happens again and again. They end when it has stopped. */
const ofEvents = [
  'OuthookNewDeadLetters',
  'OuthookConsumerDeadLetters',
  'OuthookFailing',
  'OuthookMessagesRefused',
  'OuthookCallbacksRefused',
  'OuthookUpdatesNotApplied',
  'OuthookLeasesExpire',
]

Deno.test('only an alert about events counts them: all others read the state', async () => {
  const text = await Deno.readTextFile(alerts)
  const counting = text.split('- alert: ').slice(1).flatMap((rule) => {
    const [expr = ''] = rule.match(/^ *expr: [\s\S]*?(?=^ *(?:for|labels):)/m) ?? []
    const names = [...expr.matchAll(/outhook_\w+/g)].map(([name]) => name)
    return names.every((name) => name.endsWith('_total')) ? [rule.split('\n')[0]] : []
  })
  expect(counting).toEqual(ofEvents)
})

Deno.test('each alert judges each project alone', async () => {
  const text = await Deno.readTextFile(alerts)
  const sums = [...text.matchAll(/\b(?:sum|min|max|avg|count)\b(.*)/g)].map(([, rest = '']) => rest)
  expect(sums.length).toBeGreaterThan(5)
  expect(sums.filter((rest) => !/^ by \(job, instance[,)]/.test(rest))).toEqual([])
  // The one that says that no project at all has metrics.
  expect([...text.matchAll(/.*(?:\bon \(\)|\babsent\().*/g)].map(([line]) => line.trim())).toEqual([
    'or absent(outhook_build_info) unless on () up{job="outhook"}',
  ])
})

Deno.test('each alert names a part of the runbook that is there', async () => {
  const runbook = await Deno.readTextFile(join(projectRoot, 'sql/ops/RUNBOOK.md'))
  const parts = [...runbook.matchAll(/^## (.+)$/gm)]
    .map((match) => `#${match[1]?.toLowerCase().replaceAll(' ', '-')}`)
  const text = await Deno.readTextFile(alerts)
  const named = [...text.matchAll(/runbook: sql\/ops\/RUNBOOK\.md(#.*)/g)].map((m) => m[1] ?? '')
  expect(named.length).toBe([...text.matchAll(/- alert:/g)].length)
  expect(named.filter((part) => !parts.includes(part))).toEqual([])
})

Deno.test('the configuration of Prometheus is one', async () => {
  const { promtool } = await findPrometheus()
  const path = join(projectRoot, 'sql/ops/prometheus.yml')
  const { success, text } = await runTool(promtool, ['check', 'config', '--syntax-only', path])
  expect(success ? '' : text).toBe('')
})
