/**
 * The model of receivers. No large sender publishes the distribution of its receivers' responses, so each
 * figure is the nearest one that is published, with its page:
 *
 * - Latency: the buckets of https://deliverant.co/docs/analytics, an example in a sender's documentation.
 * - Failures: a healthy sender has 95 % or more successful first attempts, says
 *   https://webhookstream.com/blog/monitoring-webhook-failures-in-production. Atlassian requires 99 % over
 *   28 days (https://developer.atlassian.com/platform/marketplace/cloud-fortified-apps-program-webhook-delivery-success-rate).
 *   The model fails 3 %: the middle.
 * - Outages: an hour, as in https://status.onfido.com/incidents/p8j29m055xz0. Two in a week last 8 hours: then
 *   Podium disables a webhook (https://docs.podium.com/docs/webhook-retries).
 * - A receiver without a response fails after 15 s, our default, as at Close
 *   (https://developer.close.com/api/overview/changelog/2026/11/9).
 */

import type { Random } from '../../concurrency/_support/random.ts'

/** What a receiver does with one request. */
export interface Answer {
  outcome: 'delivered' | 'failed'
  status?: number
  error_class?: string
  duration_ms: number
}

/** The shares of responses, and between which times, in ms, they come. */
const LATENCIES = [
  { share: 0.5, from: 10, to: 100 },
  { share: 0.3, from: 100, to: 300 },
  { share: 0.15, from: 300, to: 1_000 },
  { share: 0.04, from: 1_000, to: 5_000 },
  { share: 0.01, from: 5_000, to: 12_000 },
] as const
const FAILURES = 0.03
/** Of the failures: no response, no connection, a refusal for good; all others are status 503. */
const TIMEOUTS = 0.2
const NETWORK = 0.2
const REFUSED = 0.02
const TIMEOUT_MS = 15_000

/** Every tenth receiver takes its events in order of their keys. */
export const ORDERED_EVERY = 10

/** From when until when one receiver responds to nothing, in seconds of its day. */
export interface Outage {
  endpoint: number
  from: number
  until: number
}

/** On this day of each week, a receiver in order is down for long: each key that waits has a lane of its own. */
const LONG_IN_ORDER = 3
/** On this one, a receiver without order. */
const LONG = 5

/**
 * The outage of a day, from 1: each day another receiver. None lasts beyond midnight. Each week has the same kinds
 * of outages, so that sizes that depend on them are reached in the first one.
 */
export function outageOf(day: number, endpoints: number): Outage {
  const ofWeek = day % 7
  const hours = ofWeek === LONG_IN_ORDER || ofWeek === LONG ? 8 : 1
  return {
    endpoint: (ofWeek === LONG_IN_ORDER ? ORDERED_EVERY * day : 7 * day) % endpoints,
    from: 13 * 3_600,
    until: (13 + hours) * 3_600,
  }
}

/** What a receiver answers, by chance. */
export function answer(random: Random, isDown: boolean): Answer {
  if (isDown) return random.int(2) === 0 ? timedOut() : unreachable()
  const at = random.next()
  if (at < FAILURES * TIMEOUTS) return timedOut()
  if (at < FAILURES * (TIMEOUTS + NETWORK)) return unreachable()
  const duration_ms = latency(random)
  if (at < FAILURES * (TIMEOUTS + NETWORK + REFUSED)) {
    return { outcome: 'failed', status: 404, duration_ms }
  }
  if (at < FAILURES) return { outcome: 'failed', status: 503, duration_ms }
  return { outcome: 'delivered', status: 200, duration_ms }
}

function timedOut(): Answer {
  return { outcome: 'failed', error_class: 'timeout', duration_ms: TIMEOUT_MS }
}

function unreachable(): Answer {
  return { outcome: 'failed', error_class: 'connect', duration_ms: 50 }
}

function latency(random: Random): number {
  let left = random.next()
  for (const { share, from, to } of LATENCIES) {
    if (left < share) return Math.round(from + (to - from) * left / share)
    left -= share
  }
  return 12_000
}
