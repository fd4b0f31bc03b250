select case
  when not outbox.setting_on('worker.enabled') then
    'the setting worker.enabled is off: select outbox.set_setting(''worker.enabled'', ''true'')'
  when exists (
    select from outbox.attempt
    where event_id = :'event_id' and endpoint_id = :'endpoint_id' and error_class = 'blocked'
  ) then
    'deliveries to this machine are not allowed: the setting egress.allow_cidrs was changed; ' ||
    'start with --fresh, or restore it: see docs/egress.md'
  when exists (
    select from outbox.attempt
    where event_id = :'event_id' and endpoint_id = :'endpoint_id' and kind = 'close'
  ) then 'its delivery has ended without success'
end;
