import type { Mutant } from '../mutant.ts'

export const filters: readonly Mutant[] = [
  {
    file: 'sql/endpoints/filter_read.sql',
    find: 'outbox.filter_operand(v_tokens, v_state)',
    replace: 'outbox.filter_operand(outbox.filter_tokens(p_filter), v_state)',
    tests: ['property/filters.test.ts'],
    why: 'All words are found again for each condition, so that the work is quadratic.',
  },
  {
    file: 'sql/endpoints/filter.sql',
    find: 'or pg_catalog.length(p_filter) > v_most then',
    replace: 'or pg_catalog.length(p_filter) > v_most + 1 then',
    tests: ['sql/endpoints/filters/bounds.test.sql'],
    why: 'A filter may be longer than said.',
  },
  {
    file: 'sql/endpoints/filter_read.sql',
    find: 'pg_catalog.cardinality(p_state.kinds) >= v_most_depth',
    replace: 'pg_catalog.cardinality(p_state.kinds) > v_most_depth',
    tests: ['sql/endpoints/filters/bounds.test.sql'],
    why: 'A filter may be nested deeper than said.',
  },
  {
    file: 'sql/endpoints/filter_read.sql',
    find: `      p_state.weight := p_state.weight + p_state.is_many::integer;
`,
    replace: '',
    tests: ['sql/endpoints/filters/bounds.test.sql', 'property/filters.test.ts'],
    why: 'Negations behind a wildcard cost nothing, so that a filter costs more than it may.',
  },
  {
    file: 'sql/endpoints/filter_read.sql',
    find: 'p_state.weight := p_state.weight + v_test.weight;',
    replace: 'null;',
    tests: ['sql/endpoints/filters/bounds.test.sql'],
    why: 'A list of alternatives behind a wildcard costs nothing.',
  },
  {
    file: 'sql/endpoints/filter_read.sql',
    find: `('strict ' || v_state.written)`,
    replace: `('lax ' || v_state.written)`,
    tests: ['sql/endpoints/filters/forms.test.sql'],
    why: 'A path opens arrays that it does not name.',
  },
  {
    file: 'sql/endpoints/filter_path.sql',
    find: 'if v_was_wild then',
    replace: 'if false then',
    tests: ['sql/endpoints/filters/forms.test.sql'],
    why: 'An element without the member hides all others.',
  },
  {
    file: 'sql/endpoints/filter_path.sql',
    find: `'^(0|[1-9][0-9]{0,5})$'`,
    replace: `'^(0|[1-9][0-9]{0,6})$'`,
    tests: ['sql/endpoints/filters/bounds.test.sql'],
    why: 'An index may be larger than said.',
  },
  {
    file: 'sql/endpoints/filter_path.sql',
    find: 'pg_catalog.length(v_part.opening) > 40',
    replace: 'pg_catalog.length(v_part.opening) > 41',
    tests: ['sql/endpoints/filters/bounds.test.sql'],
    why: 'A number may be longer than said.',
  },
  {
    file: 'sql/endpoints/subscription.sql',
    find: `) > v_most then
    perform outbox.invalid('filter',`,
    replace: `) > v_most + 1 then
    perform outbox.invalid('filter',`,
    tests: ['sql/endpoints/filters/errors.test.sql'],
    why: 'One event may ask more filters of an endpoint than said.',
  },
  {
    file: 'sql/engine/route/evaluate_filters.sql',
    find: `problem := 'filter: ' || sqlerrm;`,
    replace: 'problem := null;',
    tests: ['sql/endpoints/filters/errors.test.sql'],
    why: 'A payload that no filter can read is withheld without a closing row.',
  },
  {
    file: 'sql/engine/route/evaluate_filters.sql',
    find: `p_question.filters[v_n], '{}', true)`,
    replace: `p_question.filters[v_n], '{}', false)`,
    tests: ['sql/endpoints/filters/forms.test.sql', 'sql/endpoints/filters/errors.test.sql'],
    why: 'A member that is missing stops routing.',
    equivalent:
      'A filter as it is stored is a predicate of tests within exists(), in which an error ' +
      'is unknown: it is true, false or unknown for any payload, and raises nothing.',
  },
  {
    file: 'sql/engine/route/evaluate_filters.sql',
    find: 'if p_steps > outbox.most_filter_steps() then',
    replace: 'if p_steps >= outbox.most_filter_steps() then',
    tests: ['sql/endpoints/filters/bounds.test.sql'],
    why: 'A payload with the most values that a filter takes is not asked.',
  },
  {
    file: 'sql/engine/route/filter_work.sql',
    find: `(pg_catalog.replace(p_body, '[', ''))`,
    replace: `(p_body)`,
    tests: ['sql/endpoints/filters/bounds.test.sql'],
    why: 'A payload of many small lists has more values than were counted.',
  },
  {
    file: 'sql/engine/route/evaluate_filters.sql',
    find: 'case when v_steps > outbox.most_filter_steps() then 0 else coalesce(v_steps, 0) end;',
    replace: 'coalesce(v_steps, 0);',
    tests: ['sql/engine/regressions/a_slow_filter_stops_nobody.test.sql'],
    why: 'Each pair that is refused takes a call of its own.',
  },
  {
    file: 'sql/engine/route/evaluate_filters.sql',
    find: 'v_question := outbox.each_filter_once(v_question);',
    replace: 'null;',
    tests: ['sql/engine/regressions/a_slow_filter_stops_nobody.test.sql'],
    why: 'An endpoint with the same filter for several patterns is asked it several times.',
  },
  {
    file: 'sql/engine/route/evaluate_filters.sql',
    find: 'exit when v_work > p_most and pg_catalog.cardinality(v_problems) > 0;',
    replace: 'exit when v_work > p_most;',
    tests: ['sql/engine/regressions/a_slow_filter_stops_nobody.test.sql'],
    why: 'A payload whose filters cost more than the share of a call stops routing for ever.',
  },
  {
    file: 'sql/engine/route/evaluate_filters.sql',
    find: 'exit when v_work > p_most and pg_catalog.cardinality(v_problems) > 0;',
    replace: 'exit when false;',
    tests: ['sql/engine/regressions/a_slow_filter_stops_nobody.test.sql'],
    why: 'A call asks filters until its time is up.',
  },
  {
    file: 'sql/engine/route/wanted.sql',
    find: 'pg_catalog.bool_or(s.filter is null)',
    replace: 'false',
    tests: ['sql/endpoints/filters/since.test.sql', 'sql/endpoints/filters/errors.test.sql'],
    why: 'A subscription without a filter is overruled by the filter of another one.',
  },
]
