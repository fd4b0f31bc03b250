-- The rights of this folder: see foundation/rights. It has no public function.

select outbox.close_new();
