import type { Page } from 'playwright-core'
import type { Sample } from './sample.ts'

/** A view with what shows that it has read everything. */
export interface View {
  name: string
  path: string
  ready(page: Page): Promise<void>
}

/** Each view of the console, with the data of the sample. */
export function viewsOf(sample: Sample): View[] {
  const text = (words: string | RegExp) => (page: Page): Promise<void> =>
    page.getByText(words).first().waitFor()
  return [
    { name: 'overview', path: '/', ready: text('Endpoints with work') },
    { name: 'events', path: '/events', ready: text('stock.changed') },
    { name: 'deliveries', path: '/events?view=deliveries', ready: text('/warehouse') },
    { name: 'attempts', path: '/events?view=attempts', ready: text('Since the event') },
    { name: 'event', path: `/events/${sample.event}`, ready: text('Attempt 1 failed') },
    { name: 'endpoints', path: '/endpoints', ready: text('The shop of Ada') },
    { name: 'endpoints-held', path: '/endpoints?show=held', ready: text('The warehouse') },
    { name: 'endpoints-failing', path: '/endpoints?show=failing', ready: text('Failing since') },
    { name: 'endpoint', path: `/endpoints/${sample.good}`, ready: text('Attempt 6') },
    { name: 'endpoint-failing', path: `/endpoints/${sample.failing}`, ready: text(/in a row/) },
    { name: 'dead-letters', path: '/dead-letters', ready: text('customer.created') },
    {
      name: 'dead-letter-groups',
      path: '/dead-letters?view=groups',
      ready: text(/^First$/),
    },
    { name: 'dead-letter', path: `/dead-letters/${sample.deadLetter}`, ready: text('As it was') },
    { name: 'replays', path: '/replays', ready: text('No job was started yet') },
    { name: 'event-types', path: '/event-types', ready: text('An order is paid') },
    { name: 'event-type', path: '/event-types/order.paid', ready: text('"integer"') },
    { name: 'messages', path: '/messages', ready: text('No message was created yet') },
    { name: 'inbound', path: '/inbound', ready: text('Nobody has written yet') },
    { name: 'channels', path: '/channels', ready: text('There is no channel') },
    { name: 'templates', path: '/templates', ready: text('No template is assigned yet') },
    { name: 'consumers', path: '/consumers?q=event-2', ready: text('not processed') },
    { name: 'runs', path: '/runs', ready: text(/alive/) },
    { name: 'audit', path: '/audit', ready: text('Nothing is in the audit trail here') },
    { name: 'sagas', path: '/sagas', ready: text('No saga is defined') },
    { name: 'settings', path: '/settings', ready: text('limit.portal_tokens_per_day') },
  ]
}
