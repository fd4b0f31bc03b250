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
    find: `and o.recipient = any (v_numbers || ('+' || p_message.wa_id))`,
    replace: 'and o.recipient = p_message.to_recipient',
    tests: [
      'sql/messages/number_variants/aliases.test.sql',
      'sql/messages/receive_callbacks/wishes.test.sql',
    ],
    why: 'Who opted out under the other spelling of their number is written to.',
  },
  {
    file: 'sql/messages/person/refusal.sql',
    find: 'where o.org_id = p_message.org_id and o.channel',
    replace: 'where o.channel',
    tests: ['sql/messages/opt_outs/of_one_organisation.test.sql'],
    why: 'An opt-out at one organisation stops the messages of another.',
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
    file: 'sql/messages/person/opt_out.sql',
    find: `    and o.recipient = any (outbox.number_variants(p_recipient)) and o.purpose = p_purpose
`,
    replace: `    and o.recipient = p_recipient and o.purpose = p_purpose
`,
    tests: [
      'sql/messages/number_variants/aliases.test.sql',
      'sql/messages/opt_outs/changes.test.sql',
    ],
    why: 'An opt-out under the other spelling cannot be lifted.',
  },
  {
    file: 'sql/messages/person/opt_out.sql',
    find: '  where o.lifted;',
    replace: '  where true;',
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
    find: `    perform outbox.audit(p_org_id, 'RECIPIENT', outbox.person_key(p_recipient),
      case when p_opted_out then 'OPTED_OUT' else 'OPTED_IN' end,
      pg_catalog.format('WHATSAPP %s: %s', p_purpose, coalesce(p_source, 'by hand')), p_actor,
      outbox.clock());
`,
    replace: `    null;
`,
    tests: ['sql/messages/opt_outs/changes.test.sql'],
    why: 'An opt-out by hand leaves no line in the audit trail.',
  },
  {
    file: 'sql/messages/callback/inbound_person.sql',
    find: 'order by w.org_id, w.recipient, w.purpose, w.at desc, w.lifted',
    replace: 'order by w.org_id, w.recipient, w.purpose, w.at, w.lifted',
    tests: ['sql/messages/receive_callbacks/wishes.test.sql'],
    why: 'Of STOP and a later START in one callback STOP counts.',
  },
  {
    file: 'sql/messages/callback/inbound_person.sql',
    find: `where excluded.decided_at > o.decided_at
`,
    replace: `where excluded.decided_at <> o.decided_at
`,
    tests: ['sql/messages/receive_callbacks/wishes.test.sql'],
    why: 'A START that comes late takes back a newer STOP.',
  },
]
