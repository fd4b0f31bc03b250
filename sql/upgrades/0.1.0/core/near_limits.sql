insert into outbox.setting (name, value, type, lowest, highest, description) values
  ('database.disk_mib', '0', 'integer', 0, 1000000000,
    'The size of the disk of the database in MiB, which no query can find out; 0: not known, and '
    'nothing warns before the disk is full'),
  ('traffic.mib_per_month', '0', 'integer', 0, 1000000000,
    'How many MiB of payloads may be sent in a month (UTC) before health warns; nothing is ever '
    'held back; 0: no warning');
insert into outbox.tick_step (name, calls, most) values ('traffic', 'outbox.note_traffic', 1);
comment on table outbox.counter is
  'The counts up to the last fold_counters(), by metric and label values. n: how often; total: the '
  'sum of the measured times in milliseconds, and for attempts the bytes of their payloads. The '
  'last label of a histogram is the number of the bucket, from 1.';
