-- The rights of this folder: see foundation/rights. It has no public function.

select outbox.close_new();

-- The module core ends here.
select outbox.record_module('core');
