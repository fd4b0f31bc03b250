/** What an operator does about messages, in a real browser against a real stack and a Graph API. */

import { expect } from '@std/expect'
import { startWhatsapp, type TestWhatsapp } from '../_support/whatsapp.ts'
import { findingsOf } from './_support/axe.ts'
import { consoleOn, type TestConsole } from './_support/console.ts'
import { handOn } from './_support/hand.ts'
import { hostile, makeMessageSample, messageViewsOf } from './_support/message_sample.ts'

let wa: TestWhatsapp
let console_: TestConsole

Deno.test.beforeAll(async () => {
  wa = await startWhatsapp()
  console_ = await consoleOn(wa.outhook, wa.stop)
})
Deno.test.afterAll(async () => {
  await console_?.stop()
})

Deno.test('finds what happened with a person: consent, messages, their statuses and what they wrote', async () => {
  const person = wa.somebody()
  const dossier = 'dossier-12'
  await wa.call('org-a', `POST /dossiers/${dossier}/consents`, {
    ...{ channel: 'WHATSAPP', purposes: ['UTILITY'], granted: true, source: 'web form' },
  })
  const id = await wa.create('org-a', person, { dossierId: dossier })
  await wa.settled('org-a', id, 'SENT')
  const [taken] = await wa.takenFor(person)
  if (taken === undefined) throw new Error('nothing was taken')
  await wa.graph.report(taken, 'delivered')
  await wa.settled('org-a', id, 'DELIVERED')
  const stop = { from: person.slice(1), timestamp: String(Math.floor(Date.now() / 1000)) }
  await wa.callBack('org-a', {
    contacts: [{ profile: { name: hostile }, wa_id: person.slice(1) }],
    messages: [{ id: 'wamid.STOP', ...stop, type: 'text', text: { body: 'STOP' } }, {
      ...{ id: 'wamid.TEXT', ...stop, type: 'text', text: { body: `${hostile} \u202ehello` } },
    }],
  })
  const { page, errors, close } = await console_.open('/?org=org-a')
  let dialogs = 0
  page.on('dialog', (dialog) => {
    dialogs++
    void dialog.dismiss()
  })
  const hand = handOn(page)
  await hand.click(
    page.getByRole('navigation', { name: 'Pages', exact: true })
      .getByRole('link', { name: 'Messages' }),
  )
  await page.getByRole('link', { name: 'reminder', exact: true }).waitFor()
  await hand.type(
    page.getByLabel('History of a person or a dossier'),
    `${person.slice(0, 5)} ${person.slice(5)}`,
  )
  await hand.press('Enter')
  await page.getByRole('heading', { level: 1, name: hostile }).waitFor()
  hand.done('find the messages of a person', 6)
  await page.getByText('wants no messages').waitFor()
  const history = page.getByRole('list', { name: 'History' })
  for (
    const title of [
      'Message reminder: created',
      'Message reminder: sent',
      'Message reminder: delivered',
      'Opted out',
    ]
  ) await history.getByText(title, { exact: true }).waitFor()
  await history.getByText('STOP', { exact: true }).waitFor()
  await history.getByText(`${hostile} \\u202ehello`).waitFor()
  expect(await findingsOf(page)).toEqual([])
  // The page of the person leads to the dossier, and the dossier to the person.
  await page.getByRole('link', { name: dossier }).click()
  await page.getByRole('heading', { level: 1, name: `Dossier ${dossier}` }).waitFor()
  await page.goBack()
  await history.getByRole('link', { name: 'Message reminder: delivered' }).click()
  await page.getByRole('heading', { level: 1, name: 'reminder' }).waitFor()
  await page.getByText('Attempt 1 was accepted').waitFor()
  await page.getByText('Delivered to the phone').waitFor()
  expect(await findingsOf(page)).toEqual([])
  await page.getByRole('link', { name: dossier }).click()
  await page.getByRole('heading', { level: 1, name: `Dossier ${dossier}` }).waitFor()
  await page.getByText('Consent granted: utility by whatsapp, in force').waitFor()
  await page.getByText('web form').waitFor()
  expect(await findingsOf(page)).toEqual([])
  expect(await page.locator('img[src="x"]').count()).toBe(0)
  expect([dialogs, errors]).toEqual([0, []])
  await close()
})

Deno.test('finds why a message failed, and sends it again', async () => {
  const person = wa.somebody()
  wa.graph.setTurn(() => ({ kind: 'refuse', fault: { code: 131026, status: 400 } }))
  const id = await wa.create('org-a', person)
  await wa.settled('org-a', id, 'FAILED')
  const { page, errors, close } = await console_.open('/messages?org=org-a&status=FAILED')
  await page.getByRole('row').filter({ hasText: person })
    .getByRole('link', { name: 'reminder', exact: true }).click()
  await page.getByText('Attempt 1 failed').waitFor()
  await page.getByText('131026').first().waitFor()
  wa.graph.setTurn(() => ({ kind: 'take' }))
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
  await page.getByText(/Attempt \d+ was accepted/).waitFor()
  await page.getByRole('link', { name: 'Audit trail' }).last().click()
  await page.getByRole('heading', { name: 'Audit trail', level: 1 }).waitFor()
  await page.getByText('Message created').waitFor()
  expect(new URL(page.url()).searchParams.get('entity')).toBe(id)
  expect(await findingsOf(page)).toEqual([])
  expect(errors).toEqual([])
  await close()
})

Deno.test('finds what holds a channel, checks it at Meta, and resumes it', async () => {
  const channel = wa.channels['org-b']
  await wa.outhook.sql`
    select outbox.hold_channel(${channel}, 'failure', true, '190 The access token has expired',
      now(), null, now())`
  const { page, errors, close } = await console_.open('/channels?org=org-b')
  await page.getByText('WhatsApp refuses to send: 190 The access token has expired.').waitFor()
  await page.getByRole('button', { name: 'Check at Meta' }).click()
  const result = page.getByRole('status', { name: 'Result of the check' })
  await result.getByText('token', { exact: true }).waitFor()
  expect(await findingsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByText('enabled', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Templates' }).click()
  await page.getByText('appointment_reminder').waitFor()
  expect(await findingsOf(page)).toEqual([])
  await page.getByRole('link', { name: 'Inbound' }).click()
  await page.getByText('Nobody has written yet').waitFor()
  expect(errors).toEqual([])
  await close()
})

Deno.test('cancelling a message asks first, because it is final', async () => {
  const person = wa.somebody()
  // It waits, because its channel is held.
  await wa.outhook.sql`
    select outbox.hold_channel(${wa.channels['org-b']}, 'failure', true, '190 expired', now(), null,
      now())`
  const id = await wa.create('org-b', person)
  const { page, errors, close } = await console_.open(`/messages/${id}?org=org-b`)
  await page.getByRole('button', { name: 'Cancel message' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('it cannot be queued again').waitFor()
  expect(await findingsOf(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Cancel', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  const { body } = await wa.call('org-b', `GET /outbound/messages/${id}`)
  expect(body.status).toBe('QUEUED')
  await page.getByRole('button', { name: 'Cancel message' }).click()
  await dialog.getByText(`This one message, to ${person}, is not sent`).waitFor()
  expect(await dialog.getByRole('button', { name: 'Cancel message' }).isDisabled()).toBe(true)
  await dialog.getByLabel(`Type ${id} to confirm`).fill(id)
  await dialog.getByRole('button', { name: 'Cancel message' }).click()
  await wa.settled('org-b', id, 'CANCELLED')
  await wa.call('org-b', `POST /channels/${wa.channels['org-b']}/resume`)
  expect(errors).toEqual([])
  await close()
})

const screens = [
  ['a desktop', 'light', { width: 1280, height: 900 }],
  ['a phone', 'dark', { width: 390, height: 844 }],
] as const

Deno.test('the pages about messages with hostile rows are accessible and as wide as the screen', async () => {
  const sample = await makeMessageSample(wa)
  for (const [device, theme, viewport] of screens) {
    const { page, errors, close } = await console_.open('/', { theme, viewport })
    let dialogs = 0
    page.on('dialog', (dialog) => {
      dialogs++
      void dialog.dismiss()
    })
    const found: unknown[] = []
    for (const { name, path, ready } of messageViewsOf(sample)) {
      await page.goto(console_.running.url + path)
      await ready(page)
      for (const finding of await findingsOf(page)) found.push([device, name, finding])
      const width = await page.evaluate('document.documentElement.scrollWidth')
      if (width !== viewport.width) found.push([device, name, width])
      const made = await page.locator('img[src="x"]').count()
      const raw = await page.getByText('\u202e').count()
      if (made + raw > 0) found.push([device, name, { made, raw }])
    }
    expect(found).toEqual([])
    expect([dialogs, errors]).toEqual([0, []])
    await close()
  }
})

Deno.test('a person, a message and a channel that are not there say so', async () => {
  const { page, errors, close } = await console_.open('/messages?org=org-c')
  for (
    const [path, text] of [
      ['/people/%2B12025550999', 'There is no such person'],
      ['/messages/999999', 'There is no such message'],
      ['/dossiers/none', 'Nothing is stored of this dossier'],
      ['/channels?org=org-x', 'There is no channel in this organisation'],
      ['/templates?org=org-x', 'No template is assigned yet'],
      ['/messages?org=org-x', 'No message was created yet'],
      ['/audit?org=org-x', 'Nothing is in the audit trail here'],
      ['/dossiers/50%', 'There is no such page'],
    ] as const
  ) {
    await page.goto(`${console_.running.url}${path}`)
    await page.getByRole('heading', { name: text }).waitFor()
  }
  expect(errors).toEqual([])
  await close()
})

Deno.test('the audit trail is limited to what one person did in a span of time', async () => {
  // One each hour from 14:00 of a day in the zone of the browser; every other one is of Anna.
  await wa.outhook.admin`
    insert into outbox.audit_event (org_id, entity_type, entity_id, action, details, actor, created_at, data)
    select 'org-trail', 'ENDPOINT', n::text, 'PAUSED', 'Paused: ' || n,
      case n % 2 when 0 then 'user:anna' else 'key:default' end,
      timestamptz '2026-01-15 14:00:00 Europe/Berlin' + n * interval '1 h', '{}'
    from generate_series(0, 5) n`
  const { page, errors, close } = await console_.open('/audit?org=org-trail')
  await page.getByText('6 rows, all').waitFor()
  await page.getByLabel('When', { exact: true }).selectOption('Between two times')
  await page.getByLabel('From', { exact: true }).fill('2026-01-15T15:00')
  await page.getByLabel('Until', { exact: true }).fill('2026-01-15T14:00')
  await page.getByText('The first time is not before the second.').waitFor()
  await page.getByLabel('Until', { exact: true }).fill('2026-01-15T18:00')
  await page.getByText('3 rows, all').waitFor()
  const { searchParams } = new URL(page.url())
  expect(searchParams.get('from')).toBe('2026-01-15T14:00:00.000Z')
  expect(searchParams.get('to')).toBe('2026-01-15T17:00:00.000Z')
  await page.getByLabel('Who', { exact: true }).fill('user:anna')
  await page.getByText('1 row, all').waitFor()
  await page.getByText('Paused: 2').waitFor()
  expect(await findingsOf(page)).toEqual([])
  await page.getByLabel('When', { exact: true }).selectOption('Last hour')
  await page.getByText('Nothing is in the audit trail here').waitFor()
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.getByText('6 rows, all').waitFor()
  expect(errors).toEqual([])
  await close()
})
