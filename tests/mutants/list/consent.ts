import type { Mutant } from '../mutant.ts'

export const consent: readonly Mutant[] = [
  {
    file: 'sql/messages/person/refusal.sql',
    find: `and o.purpose in ('ALL', v_purpose) and not o.lifted)`,
    replace: `and o.purpose in ('ALL', v_purpose))`,
    tests: [
      'sql/messages/opt_outs/changes.test.sql',
      'sql/messages/create_message/refusals.test.sql',
    ],
    why: 'Who has opted in again gets nothing.',
  },
  {
    file: 'sql/messages/person/refusal.sql',
    find: 'unnest(array[outbox.identifier_of(p_message.to_recipient),',
    replace: 'unnest(array[p_message.to_recipient,',
    tests: ['sql/messages/number_variants/aliases.test.sql'],
    why: 'Who opted out under the other spelling of their number is written to.',
  },
  {
    file: 'sql/messages/person/refusal.sql',
    find: 'where x.org_id = p_message.org_id and x.value = v.value',
    replace: 'where x.value = v.value',
    tests: ['sql/messages/opt_outs/of_one_organisation.test.sql'],
    why: 'An opt-out at one organisation stops the messages of another.',
  },
  {
    file: 'sql/messages/person/refusal.sql',
    find: `, '#' || p_message.recipient_hash]) as v (value)`,
    replace: `]) as v (value)`,
    tests: ['sql/messages/person/parts.test.sql'],
    why: 'An erased person who has opted out is written to.',
  },
  {
    file: 'sql/messages/person/refusal.sql',
    find: '      order by c.id desc limit 1) is not true',
    replace: '      order by c.id limit 1) is not true',
    tests: ['sql/messages/create_message/refusals.test.sql'],
    why: 'A revoked consent counts.',
  },
  {
    file: 'sql/messages/person/refusal.sql',
    find: '      order by c.id desc limit 1) is not true',
    replace: '      order by c.id desc limit 1) is false',
    tests: ['sql/messages/create_message/refusals.test.sql'],
    why: 'A dossier that never consented is written to.',
  },
  {
    file: 'sql/messages/person/refusal.sql',
    find: 'and w.expires_at > p_now + v_margin)',
    replace: 'and w.expires_at > p_now - v_margin)',
    tests: [
      'sql/messages/create_message/refusals.test.sql',
      'sql/messages/receive_callbacks/inbound.test.sql',
    ],
    why: 'A free message is sent behind the end of the 24 hours.',
  },
  {
    file: 'sql/messages/person/refusal.sql',
    find: `        and c.channel = p_message.channel and c.purpose = v_purpose
`,
    replace: `        and c.channel = p_message.channel
`,
    tests: ['sql/messages/create_message/refusals.test.sql'],
    why: 'A consent to reminders counts for marketing.',
  },
  {
    file: 'sql/messages/person/consent.sql',
    find: `  perform outbox.audit(p_org_id, 'DOSSIER', p_dossier_id,
    case when p_granted then 'CONSENT_GRANTED' else 'CONSENT_REVOKED' end,
    pg_catalog.format('%s: %s', p_channel, pg_catalog.array_to_string(p_purposes, ', ')), p_actor,
    v_now);
`,
    replace: '',
    tests: ['sql/messages/opt_outs/of_one_organisation.test.sql'],
    why: 'A changed consent leaves no line in the audit trail.',
  },
  {
    file: 'sql/messages/person/opt_out_routes.sql',
    find: '    where o.lifted;',
    replace: '    where true;',
    tests: ['sql/messages/opt_outs/changes.test.sql'],
    why: 'A second opt-out loses the evidence of the first.',
  },
  {
    file: 'sql/messages/person/recipient.sql',
    find: `'^\\+521?([1-9][0-9]{9})$'`,
    replace: `'^\\+52([1-9][0-9]{9})$'`,
    tests: ['sql/messages/number_variants/aliases.test.sql'],
    why: 'A Mexican number has two persons.',
  },
  {
    file: 'sql/messages/person/opt_out_routes.sql',
    find: `and not o.lifted
      and (p_recipient`,
    replace: `
      and (p_recipient`,
    tests: ['sql/messages/opt_outs/changes.test.sql'],
    why: 'Who has opted in again stands on the list of opt-outs.',
  },
  {
    file: 'sql/messages/person/opt_out_routes.sql',
    find: `    perform outbox.audit(p_org_id, 'PERSON', v_person::text,
      case when p_opted_out then 'OPTED_OUT' else 'OPTED_IN' end,
      pg_catalog.format('%s %s: %s', p_channel, p_purpose, v_source), p_actor, v_now);
`,
    replace: `    null;
`,
    tests: ['sql/messages/opt_outs/changes.test.sql'],
    why: 'An opt-out by hand leaves no line in the audit trail.',
  },
  {
    file: 'sql/messages/person/save_opt_outs.sql',
    find: 'order by c.org_id, p.person_id, c.purpose, s.said_by, k.unknown, c.at desc, c.lifted',
    replace: 'order by c.org_id, p.person_id, c.purpose, s.said_by, k.unknown, c.at, c.lifted',
    tests: ['sql/messages/receive_callbacks/wishes.test.sql'],
    why: 'Of STOP and a later START in one callback STOP counts.',
  },
  {
    file: 'sql/messages/person/save_opt_outs.sql',
    find: '  v_is_later := p_change.decided_at > v_old.decided_at\n',
    replace: '  v_is_later := p_change.decided_at <> v_old.decided_at\n',
    tests: ['sql/messages/receive_callbacks/wishes.test.sql'],
    why: 'A START that comes late takes back a newer STOP.',
  },
  {
    file: 'sql/messages/person/join_people.sql',
    find: '      order by s.lifted, s.said_at desc limit 1),',
    replace: '      order by s.said_at desc limit 1),',
    tests: ['sql/messages/person/joins.test.sql'],
    why: 'A join lifts the opt-out of one of the two.',
  },
  {
    file: 'sql/messages/person/join_people.sql',
    find: '    decided_at = greatest(o.decided_at, excluded.decided_at);',
    replace: '    decided_at = o.decided_at;',
    tests: ['sql/messages/person/joins.test.sql'],
    why: 'After a join, a late START lifts an opt-out.',
  },
  {
    file: 'sql/messages/person/join_people.sql',
    find: '    set expires_at = greatest(w.expires_at, excluded.expires_at);',
    replace: '    set expires_at = w.expires_at;',
    tests: ['sql/messages/person/joins.test.sql'],
    why: 'A join loses the later window.',
  },
  {
    file: 'sql/messages/person/part_person.sql',
    find: '  perform outbox.copy_opt_outs(v_person.org_id, p_person_id, v_new);\n',
    replace: '',
    tests: ['sql/messages/person/parts.test.sql'],
    why: 'Who is parted from a person loses the opt-outs.',
  },
  {
    file: 'sql/messages/person/erase_people.sql',
    find: '        where o.org_id = e.org_id and o.person_id = e.id and o.wamid not like',
    replace: '        where false and o.person_id = e.id and o.wamid not like',
    tests: ['sql/messages/person/parts.test.sql'],
    why: 'The evidence of an erased person has the number.',
  },
  {
    file: 'sql/messages/callback/link.sql',
    find:
      `      outbox.identifier_of(v_message.to_recipient), outbox.identifier_of(v_message.wa_id)],`,
    replace: `      null, null],`,
    tests: ['sql/messages/person/wishes.test.sql'],
    why: 'A reply does not link its sender to the recipient of the quoted message.',
  },
  {
    file: 'sql/messages/callback/link.sql',
    find: 'and x.value = i.value and x.parted_at >= i.at)',
    replace: 'and x.value = i.value and false)',
    tests: ['sql/messages/person/changed_hands.test.sql'],
    why: 'An old message joins a number again that its owner has left.',
  },
  {
    file: 'sql/messages/callback/link.sql',
    find: '    v_own_at := coalesce(v_attempt.created_at, v_own_at);',
    replace: '',
    tests: ['sql/messages/person/changed_hands.test.sql'],
    why: 'A late status of an old message joins a number again that its owner has left.',
  },
  {
    file: 'sql/messages/callback/link.sql',
    find: `    where i.value !~ '^[+]' limit 1), p_identifiers[1]);`,
    replace: `    where false limit 1), p_identifiers[1]);`,
    tests: ['sql/messages/person/changed_hands.test.sql'],
    why: 'The START of the new owner of a number is taken for one of the old owner.',
  },
  {
    file: 'sql/messages/callback/inbound_message.sql',
    find: `i.value = p_old and i.left_at > v_since)`,
    replace: `i.value = p_old and false)`,
    tests: ['sql/messages/person/changed_hands.test.sql'],
    why: 'A change of number that two channels report opts its person out.',
  },
  {
    file: 'sql/messages/callback/inbound_message.sql',
    find:
      `    where i.person_id = v_person and i.kind = 'NUMBER' and i.value is distinct from v_new`,
    replace: `    where i.person_id = v_person and i.value = v_old`,
    tests: ['sql/messages/person/changed_hands.test.sql'],
    why: 'Another spelling of a number that was given up stays with the person.',
  },
  {
    file: 'sql/messages/person/save_opt_outs.sql',
    find: '  if v_is_other and p_change.lifted and not v_old.lifted then',
    replace: '  if false then',
    tests: ['sql/messages/person/changed_hands.test.sql'],
    why: 'The START of the new owner of a number lifts the STOP of the old one.',
  },
  {
    file: 'sql/messages/person/save_opt_outs.sql',
    find: '    and (v_old.said_by is not null or v_old.wamid is not null)\n',
    replace: '    and false\n',
    tests: ['sql/messages/person/changed_hands.test.sql'],
    why: 'A STOP that comes after the START of somebody else is lost.',
  },
  {
    file: 'sql/messages/person/save_opt_outs.sql',
    find: '    and (p_change.said_by is null or v_old.said_by is distinct from p_change.said_by);',
    replace: '    and v_old.said_by is distinct from p_change.said_by;',
    tests: ['sql/messages/person/changed_hands.test.sql'],
    why: 'A START of an unknown owner of a number lifts the opt-outs of both owners.',
  },
  {
    file: 'sql/messages/person/part_person.sql',
    find:
      '    from pg_catalog.unnest(v_recipients) with ordinality as u (r, n) order by u.n), v_now))[1];',
    replace: '    from pg_catalog.unnest(v_recipients[1:1]) as u (r)), v_now))[1];',
    tests: ['sql/messages/person/parts.test.sql'],
    why: 'Of an erased person, only one identifier is parted.',
  },
  {
    file: 'sql/messages/person/part_person.sql',
    find: `  v_new := -pg_catalog.nextval('outbox.person_id_seq');`,
    replace: `  v_new := pg_catalog.nextval('outbox.person_id_seq');`,
    tests: ['concurrency/people.test.ts#a join that waits for a part does not deadlock'],
    why: 'A parted person is locked in another order than all others.',
  },
  {
    file: 'sql/messages/send/complete_message.sql',
    find: `  perform outbox.lock_links(v_links || outbox.links_of_updates(v_updates) || array(
    select row(c.org_id, array[c.recipient])::outbox.person_link
    from pg_catalog.unnest(v_opt_outs) c), p_now);
`,
    replace: '',
    tests: [
      'concurrency/people.test.ts#dispatch() locks the people of all results before it changes one',
    ],
    why: 'The people of one call are locked several times, in no order.',
  },
  {
    file: 'sql/messages/callback/callback_status_classify.sql',
    find: `        when r.unlocked then 'retry_pending'
`,
    replace: '',
    tests: ['sql/messages/receive_callbacks/gate_first.test.sql'],
    why: 'A status is decided without the gate of its message.',
  },
  {
    file: 'sql/messages/callback/inbound_message.sql',
    find: 'open_window(p_update.channel_id, v_person, v_message.sent_at)',
    replace: 'open_window(p_update.channel_id, v_person, p_update.happened_at)',
    tests: ['sql/messages/receive_callbacks/inbound.test.sql'],
    why: 'The repeat of a message opens the window again.',
  },
  {
    file: 'sql/messages/send/message_claim.sql',
    find: '  if v_not_before > p_now then',
    replace: '  if false then',
    tests: ['sql/messages/person/parts.test.sql'],
    why: 'Two lanes of one person send at the same time.',
  },
]
