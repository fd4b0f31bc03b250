import type {
  Delivery,
  Endpoint,
  EventRow,
  Settings,
} from '../../functions/_shared/contract/contract.ts'
import type { OutgoingMessage } from '../../functions/_shared/senders/message.ts'
import type { Channel } from '../../functions/_shared/senders/whatsapp/outgoing.ts'

// Valid rows of a dispatch answer; a test overrides what it is about.

/** The secret of the Standard Webhooks test vector. */
export const sampleSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

/** What a kind of endpoint adds to its events and endpoints. */
type Added = Record<string, unknown>

export function sampleDelivery(over: Partial<Delivery> = {}): Delivery {
  return {
    event: '0198c0de-0000-7000-8000-000000000001',
    endpoint: '0198c0de-0000-7000-8000-0000000000e1',
    attempt: 1,
    failed_attempts: 0,
    lane: '1',
    ordered: false,
    lease_ms: 20_000,
    ...over,
  }
}

export function sampleEvent(over: Partial<EventRow> & Added = {}): EventRow {
  return {
    type: 'order.paid',
    org_id: 'org-1',
    correlation_id: 'cart-7',
    idempotency_key: '0198c0de-0000-7000-8000-000000000001',
    traceparent: null,
    body: '{"amount": 1.10}',
    ...over,
  }
}

export function sampleEndpoint(over: Partial<Endpoint> & Added = {}): Endpoint {
  return {
    revision: '1',
    version: 1,
    kind: 'webhook',
    url: 'https://example.com/hook',
    headers: {},
    secrets: [sampleSecret],
    timeout_ms: 15_000,
    payload: 'envelope',
    ...over,
  }
}

export function sampleSettings(over: Partial<Settings> = {}): Settings {
  return {
    allow_http: true,
    allow_cidrs: ['127.0.0.0/8'],
    allow_ports: ['80', '443', '1024-65535'],
    deny_ports: ['6379'],
    proxy_url: '',
    success_bytes: 256,
    failure_bytes: 4096,
    poll_ms: 1000,
    max_wall_ms: 25_000,
    max_deliveries: 2_000,
    batch_size: 1_000,
    ...over,
  }
}

export function sampleChannel(over: Partial<Channel> = {}): Channel {
  return {
    graph_url: 'https://graph.facebook.com',
    graph_version: 'v25.0',
    phone_number_id: '100',
    spacing_ms: 0,
    access_token: 'token-100',
    ...over,
  }
}

export function sampleMessage(over: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return {
    id: '7',
    callback_data: 'ob1:7:1',
    to: '+12025550111',
    wait_ms: 0,
    template: null,
    payload: { type: 'text', text: 'Hello' },
    ...over,
  }
}

type Template = NonNullable<OutgoingMessage['template']>

export function sampleTemplate(over: Partial<Template> = {}): Template {
  return {
    name: 'appointment_reminder',
    language: 'fr',
    parameter_format: 'POSITIONAL',
    ...over,
  }
}
