import type { TestWhatsapp } from '../../_support/whatsapp.ts'
import type { View } from './views.ts'

/** Text that would be an element, and a word that would widen the page, if it were not shown as text. */
export const hostile = `<img/src=x/onerror=alert(1)>${'w'.repeat(80)}`

/** Shown for `\u202e`, which turns the order of letters around. */
export const shownControl = '\\u202egnp'

/** An organisation of its own in each list and page about messages, with hostile text in every field. */
export interface MessageSample {
  org: 'org-c'
  person: string
  dossier: string
  failed: string
  free: string
  job: string
  execution: string
}

/** Creates the sample. The channel of its organisation is held after that. A job and a saga are in it too. */
export async function makeMessageSample(wa: TestWhatsapp): Promise<MessageSample> {
  const org = 'org-c'
  const { admin, sql } = wa.outhook
  const person = wa.somebody()
  const dossier = 'dossier/50%'
  await wa.call(org, `POST /dossiers/${encodeURIComponent(dossier)}/consents`, {
    ...{ channel: 'WHATSAPP', purposes: ['UTILITY'], granted: true },
    ...{ source: hostile, evidence: `${hostile} \u202egnp` },
  })
  const from = person.slice(1)
  await wa.callBack(org, {
    contacts: [{ profile: { name: hostile }, wa_id: from }],
    messages: [{
      ...{ id: 'wamid.SAMPLE', from, timestamp: String(Math.floor(Date.now() / 1000)) },
      ...{ type: 'text', text: { body: `${hostile} \u202egnp` } },
    }],
  })
  const free = await wa.create(org, person, {
    ...{ templateCode: undefined, dossierId: dossier },
    payloadJson: { type: 'text', text: `${hostile} \u202egnp` },
  })
  await wa.settled(org, free, 'SENT')
  wa.graph.setTurn(() => ({ kind: 'refuse', fault: { code: 131026, status: 400 } }))
  const failed = await wa.create(org, person, { dossierId: dossier })
  await wa.settled(org, failed, 'FAILED')
  wa.graph.setTurn(() => ({ kind: 'take' }))
  await admin`
    update outbox.message_attempt set error_message = ${`Receiver is incapable of it ${hostile}`},
      error_code = ${'\u202egnp'}, provider_response = ${sql.json({ [hostile]: hostile })}
    where message_id = ${failed}`
  await admin`
    update outbox.outbound_message set error_message = ${`Receiver is incapable of it ${hostile}`},
      created_by = ${hostile} where id = ${failed}`
  await admin`
    update outbox.audit_event set details = ${hostile}, actor = ${hostile}
    where org_id = ${org} and entity_type = 'OUTBOUND_MESSAGE' and entity_id = ${failed}`
  await wa.call(org, `PATCH /channels/${wa.channels[org]}`, { description: hostile })
  await sql`
    select outbox.hold_channel(${
    wa.channels[org]
  }, 'failure', true, ${`190 ${hostile}`}, now(), null,
      now())`
  await sql`select outbox.accept_once(${'w'.repeat(64)}, 'event-1')`
  const [job] = await admin`
    insert into outbox.replay_job (org_id, event_type, error, status, failed_to, rate_per_second,
      replayed, skipped, created_at)
    values (${org}, 'order.paid', ${hostile}, 'paused', now(), 50, 3120, 2, now()) returning id`
  for (const name of ['reserve_stock', 'send_parcel']) {
    await sql.unsafe(`create or replace function public.${name}(p_context jsonb) returns jsonb
      language sql set search_path = '' as $$ select '{}'::jsonb $$`)
  }
  await sql`select outbox.define_saga('order', ${
    sql.json([
      { function: 'public.reserve_stock', event_type: 'stock.reserved' },
      { function: 'public.send_parcel', event_type: 'parcel.sent' },
    ])
  })`
  const [saga] = await sql`
    select outbox.execute_saga('order', '{}', p_org_id => ${org}) ->> 'id' as id`
  return { org, person, dossier, failed, free, job: job?.id, execution: saga?.id }
}

/** The pages about messages, people, jobs, sagas and the audit trail, each with rows. */
export function messageViewsOf(
  { org, person, dossier, failed, free, job, execution }: MessageSample,
): View[] {
  const text = (words: string | RegExp): View['ready'] => (page) =>
    page.getByText(words).first().waitFor()
  const view = (name: string, path: string, ready: View['ready']): View => ({
    ...{ name, ready },
    path: `${path}${path.includes('?') ? '&' : '?'}org=${org}`,
  })
  const word = encodeURIComponent(dossier)
  return [
    view('messages-rows', '/messages', text('Receiver is incapable')),
    view('message-failed', `/messages/${failed}`, text('Attempt 1 failed')),
    view('message-free', `/messages/${free}`, text('As it was created')),
    view('inbound-rows', '/inbound', text(shownControl)),
    view('person', `/people/${encodeURIComponent(person)}`, text('Wrote a message')),
    view('dossier', `/dossiers/${word}`, text('Consent granted')),
    view('channels-rows', '/channels', text('WhatsApp refuses to send')),
    view('templates-rows', '/templates', text('appointment_reminder')),
    view('audit-rows', '/audit', text(hostile)),
    view('replays-rows', '/replays', text(`Job ${job}`)),
    view('replay-job', `/replays/${job}`, text('It is paused')),
    view('sagas-rows', '/sagas', text('public.send_parcel')),
    view('saga', `/sagas/${execution}`, text('parcel.sent')),
    view('consumers-rows', '/consumers?q=event-1', text('processed')),
  ]
}
