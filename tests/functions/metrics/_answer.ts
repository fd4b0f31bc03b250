import type { MetricsResult } from '../../../functions/metrics/contract.ts'

/** What get_metrics() may result, with one value of everything. */
export function someAnswer(): MetricsResult {
  return {
    version: '0.1.0',
    now: 1000,
    bounds: { attempt_ms: [5, 1000, 30000], latency_ms: [25, 60000] },
    counters: [
      ['attempts', ['webhook', 'delivered', '', '2xx'], 7, 700],
      ['attempts', ['webhook', 'failed', 'lease_expired', ''], 2, 200],
      ['attempt_ms', ['webhook', 'delivered', '1'], 4, 10],
      ['attempt_ms', ['webhook', 'delivered', '3'], 2, 2500],
      ['attempt_ms', ['webhook', 'delivered', '4'], 1, 40000],
      ['latency_ms', ['webhook', '2'], 6, 1500],
      ['dead_letters', ['webhook', 'not_retryable'], 3, 0],
      ['messages', ['failed', '131026'], 1, 0],
      ['requests', ['POST', '/api/v1/events', '202'], 5, 60],
      ['request_ms', ['POST', '2'], 5, 60],
      ['endpoint_attempts', ['e-1', 'failed', 'time"out\\\n'], 1, 0],
    ],
    queue: {
      endpoints: [
        { kind: 'webhook', status: 'enabled', n: 2, open: 10, in_flight: 3 },
        { kind: 'webhook', status: 'paused', n: 1, open: 5, in_flight: 0 },
        { kind: 'webhook', status: 'halted', n: 0, open: 2, in_flight: 0 },
      ],
      due_since: 940,
      open_since: null,
      named: [{
        endpoint: 'e-1',
        org: 'org-1',
        kind: 'webhook',
        open: 5,
        failures: 4,
        failing_since: 900,
        due_since: null,
      }],
    },
    events: { unrouted: 1, unrouted_since: 999.5, set_aside: 0, dead_letters: 3 },
    engine: {
      enabled: true,
      copy: false,
      runs: { edge: 2 },
      tick_at: 999,
      kick_at: null,
      kicks: { commit: 4, tick: 1 },
      kicks_waiting: 1,
      replay_jobs: 0,
      in_default: { event: 0, attempt: 0 },
      partitions: [{ table: 'event', n: 8, until: 605800, bytes: 8192 }],
    },
    gauges: [['templates_held', [], 2], ['connections', [], 12], ['disk_bytes', [], 8589934592]],
    database: {
      tables: [{ table: 'gate', live: 3, dead: 9, vacuumed_at: null }],
      snapshot_s: 0.5,
      xmin_age: 12,
    },
  }
}
