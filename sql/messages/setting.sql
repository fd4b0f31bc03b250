insert into outbox.setting (name, value, type, lowest, highest, description) values
  ('callback.retention_days', '30', 'integer', 8, 365,
    'How long WhatsApp''s updates are stored as they arrived, to recognise repeats; Meta repeats '
    'an update for up to 7 days'),
  ('message.retention_days', '365', 'integer', 1, 3650,
    'How long the payload, phone number and ids of a finished message are stored; its audit trail '
    'stays');

insert into outbox.setting (name, value, type, form, form_problem, is_url, description) values
  ('whatsapp.graph_url', '"https://graph.facebook.com"', 'text', '^https?://',
    'must be a URL such as https://graph.facebook.com, without credentials and query', true,
    'The URL of the WhatsApp Cloud API'),
  ('whatsapp.graph_version', '"v25.0"', 'text', '^v[0-9]{1,3}[.][0-9]$',
    'must be a version such as v25.0', false,
    'The version of the Graph API that sends messages'),
  ('whatsapp.shared_app', '""', 'text', '^([0-9]{1,32})?$',
    'must be empty or the id of a Meta app (digits)', false,
    'The id of the Meta app that uses the callback address without a key; empty: none');

create function outbox.check_graph_url() returns trigger
language plpgsql set search_path = ''
as $$
begin
  if outbox.setting_value('whatsapp.graph_url') #>> '{}' like 'http:%'
    and not outbox.setting_on('egress.allow_http')
  then
    perform outbox.refuse_setting(new.name,
      'would stop all messages: whatsapp.graph_url is http, which egress.allow_http forbids',
      case new.name
        when 'whatsapp.graph_url' then 'Give an https URL, or set egress.allow_http to true first'
        else 'Set whatsapp.graph_url to an https URL first'
      end,
      case when tg_op = 'UPDATE' then old.value end);
  end if;
  return null;
end
$$;
comment on function outbox.check_graph_url() is
  'Trigger: raises OH005 if the URL of the Graph API is http and http is not allowed.';

create trigger setting_goes_with_graph_url
  after insert or update on outbox.setting
  for each row when (new.name in ('whatsapp.graph_url', 'egress.allow_http'))
  execute function outbox.check_graph_url();
