import { Buffer } from 'node:buffer'
import * as z from 'zod'
import { targetOf } from '../../connect/target.ts'
import type { Delivery, Endpoint, EventRow, Outcome } from '../../contract/contract.ts'
import { type HeaderList, headersProblem } from '../../signing/headers.ts'
import { version } from '../../base/version.ts'
import { failed, outcomeOf } from '../http_outcome.ts'
import type { Sender, SenderDeps } from '../sender.ts'
import { slackText } from './text.ts'

/** Posts the event to a channel through a Slack-compatible incoming webhook. */
export const slackSender: Sender = { send }

/** As stored by outbox.put_slack_url(). */
const endpointPart = z.object({ credentials: z.object({ url: z.string() }) })

/** Slack's error codes, such as `no_service`. */
const slackWord = /^[a-z]+(?:_[a-z]+)+$/

async function send(
  delivery: Delivery,
  endpoint: Endpoint,
  event: EventRow,
  deps: SenderDeps,
): Promise<Outcome> {
  const part = endpointPart.safeParse(endpoint)
  if (!part.success) {
    return failed('protocol', 'The endpoint has no URL: set it with outbox.set_slack_url()')
  }
  const target = targetOf(part.data.credentials.url, deps.policy)
  if (!target.ok) return failed('blocked', target.problem)
  const problem = headersProblem(endpoint)
  if (problem !== null) return failed('protocol', problem)

  const exchange = await deps.transport.post({
    endpoint: delivery.endpoint,
    org: event.org_id,
    // Slack cannot recognise a repeat. But the schedule sends the message again after `reset` too, so this
    // causes no duplicate that a failed attempt would not cause, and saves the attempt.
    isRepeatable: true,
    url: target.url,
    headers: headersOf(endpoint),
    body: Buffer.from(JSON.stringify({ text: slackText(event) }), 'utf8'),
    timeoutMs: endpoint.timeout_ms,
    successBytes: deps.settings.success_bytes,
    failureBytes: deps.settings.failure_bytes,
    policy: deps.policy,
  })
  return withCode(outcomeOf(exchange))
}

function headersOf({ headers }: Endpoint): HeaderList {
  const list: HeaderList = []
  for (const name in headers) list.push(name, headers[name] ?? '')
  list.push('content-type', 'application/json', 'user-agent', `Outhook/${version}`)
  return list
}

/** Adds Slack's error code, which decides what a refusal means (`failure_rule`). */
function withCode(outcome: Outcome): Outcome {
  if (outcome.outcome !== 'failed' || outcome.response === undefined) return outcome
  const word = outcome.response.trim()
  if (word.length > 64 || !slackWord.test(word)) return outcome
  return { ...outcome, code: word, error: `${outcome.error}: ${word}` }
}
