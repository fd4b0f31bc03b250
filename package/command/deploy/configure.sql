select outbox.configure(p_functions_url => '{functions_url}', p_worker_secret => '{worker_secret}');
