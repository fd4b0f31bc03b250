-- The rights of this folder: see foundation/rights. Only the owner of the schema moves an
-- organisation, over a direct connection: the pages have signing secrets in the clear.

select outbox.close_new();
