import { setTimeout as wait } from 'node:timers/promises'
import { callDataApi, type DataApiProblem, type Target } from '../remote/data_api.ts'
import type { Facts, TestEvent } from '../remote/facts.ts'

/** What became of the test event. */
export type TestResult =
  /** `event` has the attempts so far; null if the event was not read. */
  | { step: 'sent'; event: TestEvent | null; timeoutMs: number }
  /** The endpoint or the event could not be created. */
  | { step: 'refused'; problem: DataApiProblem }

/** The organisation of the endpoint. Other organisations do not see it. */
const organisation = 'outhook-check'

/**
 * Sends a test event to the function `deliver` itself: creates an endpoint, publishes an event
 * `outhook.test` for it alone, waits for the first attempt, and deletes the endpoint.
 */
export async function testDelivery(
  target: Target,
  functionsUrl: string,
  timeoutMs: number,
): Promise<TestResult> {
  const endpoint = await callDataApi<{ id: string }>(target, 'create_endpoint', {
    p_url: `${functionsUrl}/deliver/test`,
    // It gets only events that name it.
    p_event_types: ['outhook.test'],
    p_org_id: organisation,
    p_description: 'outhook check: deleted after the check',
  })
  if (!endpoint.ok) return { step: 'refused', problem: endpoint.problem }
  const { id } = endpoint.data
  try {
    const sent = await callDataApi<{ event_id: string }>(target, 'send_test_event', {
      p_endpoint_id: id,
    })
    if (!sent.ok) return { step: 'refused', problem: sent.problem }
    const event = await firstAttempt(target, sent.data.event_id, timeoutMs)
    return { step: 'sent', event, timeoutMs }
  } finally {
    await callDataApi(target, 'delete_endpoint', { p_endpoint_id: id })
  }
}

async function firstAttempt(
  target: Target,
  eventId: string,
  timeoutMs: number,
): Promise<TestEvent | null> {
  const until = Date.now() + timeoutMs
  let last: TestEvent | null = null
  while (true) {
    const read = await callDataApi<Facts>(target, 'check_installation', { p_event_id: eventId })
    if (read.ok) last = read.data.test
    if ((last?.attempts.length ?? 0) > 0 || Date.now() >= until) return last
    await wait(250)
  }
}
