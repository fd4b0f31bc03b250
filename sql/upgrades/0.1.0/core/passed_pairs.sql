-- How much has passed over the organisations that wait for a turn: see passes_turn().
create sequence outbox.passed_pairs minvalue 0 start 0;
