import { expect } from '@std/expect'
import { join } from 'node:path'
import { verdictOn } from '../bench/engine/measurement.ts'
import { exitCodeOf, mergeTaken, type Taken, toPage, toVerdicts } from '../bench/engine/results.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'

const target = { what: 'p95 at 5M', value: 1.5, unit: '×', atMost: 1.5 }

const how = { at: '2026-11-28T12:00:00.000Z', commit: 'abc', command: 'deno task bench:engine' }
const taken: Taken = {
  ...how,
  ...{ name: 'dispatch', title: 'dispatch()', size: 'full', seconds: 60, problem: null },
  note: '2,000 calls',
  columns: [{ key: 'p95', label: 'p95 ms', digits: 1 }],
  rows: [{ series: '5M waiting', values: { p95: 44.04 } }],
  targets: [target, { what: 'WAL', value: 1_234.5, unit: 'kB', atMost: 500 }],
}
const broken: Taken = {
  ...how,
  ...{ name: 'idle', title: 'Idle', size: 'full', seconds: 1, problem: 'the tick does not run' },
  ...{ note: '', columns: [], rows: [], targets: [] },
}

Deno.test('verdictOn() takes the target itself for met, and what is no number for missed', () => {
  expect(verdictOn(target)).toBe('OK')
  expect(verdictOn({ ...target, value: 1.51 })).toBe('MISSED')
  expect(verdictOn({ ...target, value: NaN })).toBe('MISSED')
})

Deno.test('toVerdicts() has a line for each target and each problem', () => {
  expect(toVerdicts([taken, broken]).split('\n')).toEqual([
    '|          | figure                | value    | target   | verdict |',
    '| -------- | --------------------- | -------- | -------- | ------- |',
    '| dispatch | p95 at 5M             | 1.50 ×   | ≤ 1.5 ×  | OK      |',
    '| dispatch | WAL                   | 1,235 kB | ≤ 500 kB | MISSED  |',
    '| idle     | the tick does not run |          |          | PROBLEM |',
  ])
})

Deno.test('exitCodeOf() is 1 for a problem and not for a missed target', () => {
  expect(exitCodeOf([taken])).toBe(0)
  expect(exitCodeOf([taken, broken])).toBe(1)
})

Deno.test('toPage() shows where, how and what was measured', () => {
  const machine = { cpu: 'A CPU', cores: 2, memoryGb: 24, system: 'Linux 6' }
  const page = toPage({ machine, taken: [taken, broken] })
  expect(page).toContain('On 2 cores of A CPU with 24 GB (Linux 6).')
  expect(page).toContain('## dispatch()\n\n|            | p95 ms |')
  expect(page).toContain(
    'Measured on 2026-11-28, at commit abc, by `deno task bench:engine`, in 60 s.',
  )
  expect(page).not.toContain('## Idle')
})

Deno.test('toPage() shows the load average before a measurement, if it was noted', () => {
  const machine = { cpu: 'A CPU', cores: 2, memoryGb: 24, system: 'Linux 6' }
  expect(toPage({ machine, taken: [{ ...taken, load: 0.44 }] }))
    .toContain('in 60 s, with a load average of 0.4 before it.')
})

Deno.test('a full measurement of the engine is refused above the load that --load allows', async () => {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...['run', '-A', '--cached-only', '--no-check', 'tests/bench/engine.ts'],
      ...['--only', 'publishing', '--load', '0.000001'],
    ],
    cwd: projectRoot,
    env: { NO_COLOR: '1' },
  }).output()
  expect(new TextDecoder().decode(stderr)).toMatch(
    /The load average of this machine is [\d.]+, above 0.000001: other programs would change the figures/,
  )
  expect(code).toBe(2)
})

Deno.test('mergeTaken() replaces what was taken again, and keeps the rest and the order', () => {
  const again = { ...taken, commit: 'def' }
  expect(mergeTaken(['idle', 'dispatch', 'pinned'], [taken, broken], [again]))
    .toEqual([broken, again])
})

Deno.test('task bench:engine measures, tells its verdict and ends with 0', async () => {
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      'run',
      '-A',
      '--cached-only',
      '--no-check',
      'tests/bench/engine.ts',
      '--small',
      '--only',
      'publishing',
    ],
    cwd: projectRoot,
    env: { NO_COLOR: '1' },
    stderr: 'inherit',
  }).output()
  const text = new TextDecoder().decode(stdout)
  expect(text).toMatch(
    /\| publishing \| added for each event +\| -?[\d.]+ ms +\| ≤ 0.25 ms \| (OK|MISSED)/,
  )
  expect(text).toContain('1 measurements, 0 problems')
  expect(code).toBe(0)
})

Deno.test('every command of a measurement that its file names is there', async () => {
  for (
    const name of [
      ...[
        'beside',
        'breakers',
        'dispatch',
        'idle',
        'memory',
        'organisations',
        'pinned',
        'publishing',
        'steps',
        'waking',
      ],
    ]
  ) {
    const text = await Deno.readTextFile(join(projectRoot, 'tests', 'bench', `${name}.ts`))
    expect(text).toContain(`deno run -A tests/bench/${name}.ts [--small]`)
    expect(await Deno.readTextFile(join(projectRoot, 'tests', 'bench', 'engine.ts')))
      .toContain(`./${name}.ts`)
  }
})
