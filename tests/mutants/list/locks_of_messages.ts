import type { Mutant } from '../mutant.ts'

/** Locks of messages, people and the gates of channels. */
export const locksOfMessages: readonly Mutant[] = [
  {
    file: 'sql/messages/send/channel_failure.sql',
    find: '    v_locked := outbox.try_lock_gates(v_endpoints);',
    replace: '    v_locked := v_endpoints;',
    tests: [
      'concurrency/held_channels.test.ts#an answer that slows down an app waits for no gate of its other numbers',
    ],
    why: 'An answer waits for the gate of every number of its app, and a run with it.',
  },
  {
    file: 'sql/messages/callback/callback_failure.sql',
    find: '    v_gates := outbox.try_lock_gates(array(',
    replace: '    v_gates := (array(',
    tests: [
      'concurrency/held_channels.test.ts#a status that slows down a number waits for no run that holds its gate',
    ],
    why: 'A callback waits for a run that holds the gate of its number.',
  },
  {
    file: 'sql/messages/person/join_people.sql',
    find: '  v_linked outbox.linked_identifier[] := outbox.lock_links(p_links, p_now);',
    replace: `  v_linked outbox.linked_identifier[] := array(
    select row(l.place, l.org_id, i.value,
      '#' || outbox.hash_person(i.value, outbox.hash_key()))::outbox.linked_identifier
    from pg_catalog.unnest(p_links) with ordinality as l (org_id, identifiers, place)
    cross join lateral (select distinct u.value from pg_catalog.unnest(l.identifiers) as u (value)
      where u.value is not null) i
    order by l.org_id, i.value, l.place);`,
    tests: ['concurrency/people.test.ts#when two sessions join them in opposite orders'],
    why: 'Two sessions join the same two people, and the second one fails.',
  },
  {
    file: 'sql/messages/person/join_people.sql',
    find: `  perform outbox.lock_people(v_linked, p_now);
  return v_linked;`,
    replace: '  return v_linked;',
    tests: ['concurrency/people.test.ts#when two sessions join them in opposite orders'],
    why: 'Two sessions join the same two people, and the second one fails.',
  },
  {
    file: 'sql/messages/message/message_actions.sql',
    find: `  v_message outbox.outbound_message := outbox.lock_message(p_org_id, p_message_id);
  v_delivery`,
    replace:
      `  v_message outbox.outbound_message := outbox.check_message_id(p_org_id, p_message_id);
  v_delivery`,
    tests: [
      'concurrency/held_messages.test.ts#cancel_message() waits for the gate before it takes the message',
    ],
    why: 'A person cancels a message that a run is just being handed, and it is sent.',
  },
  {
    file: 'sql/messages/message/message_actions.sql',
    find: `  v_message outbox.outbound_message := outbox.lock_message(p_org_id, p_message_id);
begin`,
    replace:
      `  v_message outbox.outbound_message := outbox.check_message_id(p_org_id, p_message_id);
begin`,
    tests: [
      'concurrency/held_messages.test.ts#resend_message() beside the erasure of the message waits for it',
    ],
    why: 'A message that is being erased is sent again, without its content.',
  },
]
