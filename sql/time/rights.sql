-- The rights of this folder: see foundation/rights.

select outbox.close_new();

