/** If the database refuses one message or one channel, all other messages are sent. */

import { expect } from '@std/expect'
import { expectExactCounters } from './_support/checks.ts'
import { db, sql, useOneSession } from './_support/one_session.ts'
import { type Report, report, Run } from './_support/dispatch.ts'
import type { Operation } from './_support/refuse.ts'

useOneSession()
Deno.test.beforeEach(async () => {
  await sql`select outbox.put_whatsapp_app('1', 'app-secret')`
})

async function channel(org: string, number: string): Promise<string> {
  const [made] = await sql`
    select outbox.create_channel(${org}, ${number}, '9', '1', 'token') ->> 'id' as id,
      outbox.put_template(${org}, 'reminder', 'appointment_reminder', 'fr', 'UTILITY')`
  return made?.id
}

async function message(org: string, to: string): Promise<void> {
  await sql`select outbox.create_message(${org}, ${to}, '{"parameters": ["A"]}', 'reminder')`
}

/** Makes a table refuse the rows of one message. */
async function refuseMessage(id: string, table: string, operation: Operation): Promise<void> {
  const column = table === 'outbound_message' ? 'id' : 'message_id'
  await sql.unsafe(`
    create function public.refuse() returns trigger language plpgsql as $$
    begin
      if (case when tg_op = 'DELETE' then old.${column} else new.${column} end)::text = '${id}' then
        raise exception 'not this message';
      end if;
      return case when tg_op = 'DELETE' then old else new end;
    end $$;
    create trigger refuse before ${operation} on outbox.${table}
    for each row execute function public.refuse()`)
}

for (
  const [table, operation] of [
    ['message_attempt', 'insert'],
    ['message_attempt', 'update'],
    ['outbound_message', 'update'],
  ] as const
) {
  Deno.test(`messages beside one of which ${operation} of ${table} fails are sent once`, async () => {
    await channel('org-1', '101')
    for (const to of ['+12025550111', '+12025550112', '+12025550113']) await message('org-1', to)
    const messages = await sql`select id from outbox.outbound_message order by id`
    await refuseMessage(String(messages[0]?.id), table, operation)
    const sent = new Map<string, number>()
    try {
      const run = new Run(sql)
      let results: Report[] = []
      for (let round = 0; round < 12; round++) {
        const { deliveries } = await run.call(results, 100)
        for (const { event } of deliveries) sent.set(event, (sent.get(event) ?? 0) + 1)
        results = deliveries.map((delivery) => report(delivery))
        await sql`update outbox.test_clock set at = at + interval '30 minutes' where only_row`
      }
      await run.call(results)
      const open = await sql`
        select m.id, s.held_because, s.next_attempt_at from outbox.delivery_status s
        join outbox.outbound_message m on m.event_id = s.event_id where s.open`
      expect([...open]).toEqual([{
        id: messages[0]?.id,
        held_because: 'set aside: P0001 not this message',
        next_attempt_at: null,
      }])
      const others = await sql`
        select m.event_id from outbox.outbound_message m where m.id <> ${messages[0]?.id}`
      expect(others.map((row) => sent.get(row.event_id))).toEqual([1, 1])
      // A recipient's lane outlives its last message by its spacing.
      await sql`select outbox.cleanup()`
      await expectExactCounters(db.admin)
    } finally {
      await sql`drop function public.refuse() cascade`
    }
  })
}

Deno.test('messages beside a refused one whose end cannot be stored are sent once', async () => {
  await channel('org-1', '101')
  for (const to of ['+12025550111', '+12025550112', '+12025550113']) await message('org-1', to)
  const messages = await sql`select id, event_id from outbox.outbound_message order by id`
  const refused = messages[0]?.event_id
  await sql`update outbox.outbound_message set status = 'FAILED' where event_id = ${refused}`
  await sql.unsafe(`
    create function public.refuse() returns trigger language plpgsql as $$
    begin
      raise exception 'no end';
    end $$;
    create trigger refuse before insert on outbox.attempt
    for each row when (new.kind = 'close' and new.event_id = '${refused}') execute function public.refuse()`)
  const sent = new Map<string, number>()
  try {
    const run = new Run(sql)
    let results: Report[] = []
    for (let round = 0; round < 6; round++) {
      const { deliveries } = await run.call(results, 100)
      for (const { event } of deliveries) sent.set(event, (sent.get(event) ?? 0) + 1)
      results = deliveries.map((delivery) => report(delivery))
      await sql`update outbox.test_clock set at = at + interval '30 minutes' where only_row`
    }
    await run.call(results)
    expect(sent).toEqual(new Map(messages.slice(1).map((row) => [row.event_id, 1])))
    const open = await sql`
      select s.event_id, s.held_because from outbox.delivery_status s where s.open`
    expect([...open]).toEqual([{ event_id: refused, held_because: 'set aside: P0001 no end' }])
    await sql`select outbox.cleanup()`
    await expectExactCounters(db.admin)
  } finally {
    await sql`drop function public.refuse() cascade`
  }
})

Deno.test('a channel whose token cannot be read is held until set_channel_token()', async () => {
  const bad = await channel('org-1', '101')
  const good = await channel('org-2', '102')
  await message('org-1', '+12025550111')
  await message('org-2', '+12025550112')
  await db.admin`delete from vault.secrets v using outbox.whatsapp_channel c
    where c.endpoint_id = ${bad} and v.id = c.token_vault_id`
  const answer = await new Run(sql).call([], 100)
  expect(answer.deliveries.map(({ endpoint }) => endpoint)).toEqual([good])
  const [held] = await sql`
    select s.status, s.reason, m.status as message, m.attempt_count
    from outbox.endpoint_status s join outbox.outbound_message m on m.channel_id = s.id
    where s.id = ${bad}`
  expect(held).toEqual({
    status: 'paused',
    reason: expect.stringMatching(/^unreadable: the access token .*set_channel_token\(\)/),
    message: 'QUEUED',
    attempt_count: 0,
  })
  await sql`select outbox.set_channel_token('org-1', ${bad}, 'another')`
  await sql`select outbox.tick()`
  const after = await new Run(sql).call([], 100)
  expect(after.deliveries.map(({ endpoint }) => endpoint)).toEqual([bad])
  await expectExactCounters(db.admin)
})

Deno.test('a callback is verified even if another app has lost its secret, and that app has none', async () => {
  await sql`select outbox.put_whatsapp_app('2', 'other-secret')`
  await db.admin`update vault.secrets v set secret = ${btoa('x'.repeat(64))}
    from outbox.whatsapp_app a where a.app_id = '1' and v.id = a.secret_vault_id`
  const apps = await sql`
    select outbox.callback_app(a.app_key) -> 'app' -> 'secrets' as secrets
    from outbox.whatsapp_app a order by a.app_id`
  expect(apps.map(({ secrets }) => secrets)).toEqual([[], ['other-secret']])
})

Deno.test('a message is created though the key of recipients cannot be decrypted, and the key is replaced', async () => {
  await channel('org-1', '101')
  await message('org-1', '+12025550111')
  await db.admin`update vault.secrets v set secret = ${btoa('x'.repeat(64))}
    where v.name = 'outhook_recipient_key'`
  await message('org-1', '+12025550111')
  await message('org-1', '+12025550112')
  const keys = await sql`select left(v.name, 26) as name from vault.secrets v
    where v.name like 'outhook_recipient_key%' order by v.name`
  expect(keys.map(({ name }) => name)).toEqual([
    'outhook_recipient_key',
    'outhook_recipient_key lost',
  ])
  const [lanes] = await sql`
    select count(distinct e.partition_key)::integer as n from outbox.event e
    join outbox.outbound_message m on m.event_id = e.id`
  expect(lanes).toEqual({ n: 3 })
  expect((await new Run(sql).call([], 100)).deliveries).toHaveLength(3)
})
