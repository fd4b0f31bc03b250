import type { Page } from 'playwright-core'
import type { TestOuthook } from '../../_support/outhook.ts'
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
    { name: 'audit', path: '/audit', ready: text('Endpoint created') },
    { name: 'sagas', path: '/sagas', ready: text('No saga is defined') },
    { name: 'settings', path: '/settings', ready: text('limit.portal_tokens_per_day') },
  ]
}

/** A dialog: the view that has it, the button that opens it, and a button that it has. */
export interface DialogView {
  name: string
  path: string
  opener: string
  label: string
}

/** The dialogs of the console, with the data of the sample. */
export function dialogsOf(sample: Sample): DialogView[] {
  const good = `/endpoints/${sample.good}`
  const letter = `/dead-letters/${sample.deadLetter}`
  const dialog = (name: string, path: string, opener: string, label: string): DialogView => ({
    ...{ name: `dialog-${name}`, path, opener, label },
  })
  return [
    dialog('replay', '/dead-letters', 'Replay all that match', 'Start the job'),
    dialog('discard', letter, 'Discard …', 'Discard'),
    dialog('new-endpoint', '/endpoints', 'New endpoint', 'Create endpoint'),
    dialog('pause', good, 'Pause', 'Pause'),
    dialog('retries', good, 'Change the retries', 'Save'),
    dialog('rotate', good, 'Rotate secret', 'Rotate'),
    dialog('span', good, 'Replay a span …', 'Cancel'),
    dialog('backfill', good, 'Send earlier events …', 'Show how many'),
    dialog('cancel', `/events/${sample.held}`, 'Cancel delivery', 'Cancel delivery'),
  ]
}

/** Text that would be an element if it were not shown as text. */
export const hostile = '<img/src=x/onerror=alert(1)>'

/** What the hostile organisation has. */
export interface HostileSample {
  org: string
  event: string
  views: View[]
}

/** Makes an organisation with hostile text in every field, and returns each view that shows some of it. */
export async function makeHostileSample(outhook: TestOuthook): Promise<HostileSample> {
  const { admin, sql } = outhook
  const org = 'hostile'
  const answer = encodeURIComponent(hostile)
  const types = { p_event_types: ['evil.*'], p_org_id: org }
  const { id } = await outhook.createEndpoint(`/status/404?x-evil=${answer}&a="><script>`, {
    ...{ ...types, p_description: `${hostile}"'\u202etxt`, p_headers: { 'x-evil': hostile } },
  })
  const [event] = await sql`
    select outbox.publish('evil.made', ${
    sql.json({ [hostile]: `</script><svg onload=alert(1)>`, d: '\u202egnp' })
  }, p_org_id => ${org}, p_correlation_id => ${hostile}, p_partition_key => ${hostile},
      p_idempotency_key => ${hostile}) as id`
  await outhook.attemptsOf(event?.id)
  const [letter] = await sql`
    update outbox.dead_letter set error = ${hostile} where org_id = ${org} returning id`
  await sql`
    update outbox.attempt set error = ${hostile}, response = ${`${hostile}<script>alert(1)</script>`}
    where event_id = ${event?.id}`
  await sql`select outbox.put_event_type(${org}, 'evil.made', ${hostile}, ${
    JSON.stringify({ title: hostile, examples: [{ [hostile]: hostile }] })
  }::text::json)`
  const paused = await outhook.createEndpoint(`/paused?a="><script>`, types)
  await sql`select outbox.pause_endpoint(${paused.id}, ${hostile})`
  const [job] = await admin`
    insert into outbox.replay_job (org_id, endpoint_id, event_type, error, status, failed_to,
      rate_per_second, created_at, finished_at)
    values (${org}, ${id}, ${hostile}, ${hostile}, 'done', now(), 50, now(), now()) returning id`
  const step = `public."${hostile}"`
  await sql.unsafe(`create function ${step}(p_context jsonb) returns jsonb
    language sql set search_path = '' as $$ select '{}'::jsonb $$`)
  await sql`select outbox.define_saga('evil', ${
    sql.json([{ function: step, event_type: 'evil.done' }])
  })`
  const [execution] = await sql`
    select outbox.execute_saga('evil', '{}', p_org_id => ${org}) ->> 'id' as id`
  // One that has not called for long, so that it changes nothing.
  const worker = { host: hostile, pid: hostile, version: hostile, in_flight: 0, delivered: 0 }
  await admin`
    insert into outbox.run (id, kind, started_at, polled_at, worker)
    values (gen_random_uuid(), 'worker', now() - interval '20 minutes',
      now() - interval '10 minutes', ${admin.json(worker)})`
  const text = (words: string | RegExp): View['ready'] => (page) =>
    page.getByText(words).first().waitFor()
  const view = (name: string, path: string, ready: View['ready']): View => ({
    ...{ name: `hostile ${name}`, ready },
    path: `${path}${path.includes('?') ? '&' : '?'}org=${org}`,
  })
  const read: View['ready'] = async (page) => {
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByText('Loading').first().waitFor({ state: 'detached' })
  }
  return {
    ...{ org, event: event?.id },
    views: [
      view('overview', '/', text('Endpoints with work')),
      view('events', '/events', text('evil.made')),
      view('deliveries', '/events?view=deliveries', text('evil.made')),
      view('attempts', '/events?view=attempts', text('Since the event')),
      view('event', `/events/${event?.id}`, text('Attempt 1 failed')),
      view('endpoints', '/endpoints', text(hostile)),
      view('held', '/endpoints?show=held', text('"><script>')),
      view(
        'endpoint',
        `/endpoints/${id}`,
        (page) => page.getByRole('heading', { name: 'Retries' }).waitFor(),
      ),
      view('paused endpoint', `/endpoints/${paused.id}`, text(hostile)),
      view('dead letters', '/dead-letters', text(hostile)),
      view('groups', '/dead-letters?view=groups', text(hostile)),
      view('dead letter', `/dead-letters/${letter?.id}`, text('As it was')),
      view('jobs', '/replays', text(/^Job \d/)),
      view('job', `/replays/${job?.id}`, text(hostile)),
      view('event types', '/event-types', text(hostile)),
      view('event type', '/event-types/evil.made', text(hostile)),
      view('sagas', '/sagas', text(hostile)),
      view('execution', `/sagas/${execution?.id}`, text('evil.done')),
      view('runs', '/runs', text(hostile)),
      ...['/settings', '/consumers', '/audit'].map((path) => view(path, path, read)),
    ],
  }
}
