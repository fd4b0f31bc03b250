-- The module watch has no public function: its functions are for the owner.

select outbox.close_new();
