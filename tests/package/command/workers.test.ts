import { expect } from '@std/expect'
import {
  type ListedWorker,
  showWorkers,
  type Workers,
} from '../../../package/command/workers/workers.ts'

const worker: ListedWorker = {
  run: '00000000-0000-7000-8000-000000000001',
  host: 'worker-1',
  pid: '7',
  version: '1.2.0',
  contracts: { oldest: 1, newest: 2 },
  started_at: '2026-01-01T00:00:00.000Z',
  seen_at: '2026-01-01T12:00:00.000Z',
  in_flight: 3,
  delivered: 40,
  status: 'live',
}
const none: Workers = {
  at: '2026-01-01T12:00:02.000Z',
  contracts: { oldest: 1, newest: 2 },
  workers: [],
  problems: [],
}

Deno.test('workers shows one line for each worker, and their sum', () => {
  const other: ListedWorker = {
    ...worker,
    host: 'worker-2',
    version: '1.1.0',
    contracts: { oldest: 1, newest: 1 },
    in_flight: 0,
    delivered: 2,
  }
  const silent: ListedWorker = {
    ...other,
    host: null,
    pid: null,
    version: null,
    contracts: null,
    in_flight: null,
    delivered: null,
    seen_at: '2026-01-01T11:30:02.000Z',
    status: 'silent',
  }
  const [head, ...lines] = showWorkers({ ...none, workers: [worker, other, silent] })
    .split('\n').map((line) => line.split(/ {2,}/))
  expect([head?.slice(0, 5), ...lines]).toEqual([
    ['host', 'pid', 'version', 'contract', 'status'],
    ['worker-1', '7', '1.2.0', '1 to 2', 'live', '3', '40', '2 s ago', '2026-01-01T00:00:00.000Z'],
    ['worker-2', '7', '1.1.0', '1', 'live', '0', '2', '2 s ago', '2026-01-01T00:00:00.000Z'],
    ['-', '-', '-', '-', 'silent', '-', '-', '1800 s ago', '2026-01-01T00:00:00.000Z'],
    [''],
    [
      '2 live on 2 hosts, 42 delivered in the last minute, versions 1.1.0, 1.2.0, ' +
      'database with contract 1 to 2',
    ],
  ])
})

Deno.test('workers says that there are none, and why some get nothing', () => {
  expect(showWorkers({ ...none, problems: ['delivery is switched off'] }).split('\n')).toEqual([
    'There are no workers',
    'problem: delivery is switched off',
  ])
})
