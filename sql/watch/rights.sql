-- The rights of this folder: see foundation/rights. It has no public function.

select outbox.close_new();

-- The module watch ends here.
select outbox.record_module('watch');
