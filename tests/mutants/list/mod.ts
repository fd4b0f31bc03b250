import type { Area } from '../mutant.ts'
import { api } from './api.ts'
import { authentication } from './authentication.ts'
import { backfill } from './backfill.ts'
import { boundedWaits } from './bounded_waits.ts'
import { breaker } from './breaker.ts'
import { brokersAndSlack } from './brokers_and_slack.ts'
import { callbacks } from './callbacks.ts'
import { callbacksOverHttp } from './callbacks_over_http.ts'
import { claim } from './claim.ts'
import { cleanupAndPartitions } from './cleanup_and_partitions.ts'
import { coldStart } from './cold_start.ts'
import { consent } from './consent.ts'
import { consolePage } from './console.ts'
import { consumer } from './consumer.ts'
import { contractsAndTickProblem } from './contracts_and_tick_problem.ts'
import { copies } from './copies.ts'
import { databaseFaults } from './database_faults.ts'
import { dispatch } from './dispatch.ts'
import { egress } from './egress.ts'
import { endpointStatus } from './endpoint_status.ts'
import { filters } from './filters.ts'
import { httpClient } from './http_client.ts'
import { into } from './into.ts'
import { kickAndTick } from './kick_and_tick.ts'
import { leases } from './leases.ts'
import { limits } from './limits.ts'
import { maintenance } from './maintenance.ts'
import { listsAndSettings } from './lists_and_settings.ts'
import { locks } from './locks.ts'
import { locksOfEndpoints } from './locks_of_endpoints.ts'
import { locksOfMessages } from './locks_of_messages.ts'
import { locksOfMoves } from './locks_of_moves.ts'
import { locksOfReplays } from './locks_of_replays.ts'
import { locksOfRuns } from './locks_of_runs.ts'
import { locksOfUpkeep } from './locks_of_upkeep.ts'
import { manualActions } from './manual_actions.ts'
import { messages } from './messages.ts'
import { orgMoves } from './org_moves.ts'
import { organisations } from './organisations.ts'
import { otherFunctions } from './other_functions.ts'
import { npmPackage } from './package.ts'
import { publishing } from './publishing.ts'
import { refusals } from './refusals.ts'
import { refusedLanes } from './refused_lanes.ts'
import { replay } from './replay.ts'
import { results } from './results.ts'
import { retry } from './retry.ts'
import { rights } from './rights.ts'
import { routes } from './routes.ts'
import { routing } from './routing.ts'
import { run } from './run.ts'
import { sagasAndWatch } from './sagas_and_watch.ts'
import { secrets } from './secrets.ts'
import { senders } from './senders.ts'
import { signing } from './signing.ts'
import { unreadable } from './unreadable.ts'

/** Every mutant, by the part of the product that it is in. */
export const areas: readonly Area[] = [
  { name: 'claim', mutants: claim },
  { name: 'results', mutants: results },
  { name: 'backfill', mutants: backfill },
  { name: 'breaker', mutants: breaker },
  { name: 'retry', mutants: retry },
  { name: 'routing', mutants: routing },
  { name: 'refused lanes', mutants: refusedLanes },
  { name: 'manual actions', mutants: manualActions },
  { name: 'replay', mutants: replay },
  { name: 'endpoint status', mutants: endpointStatus },
  { name: 'secrets', mutants: secrets },
  { name: 'publishing', mutants: publishing },
  { name: 'limits', mutants: limits },
  { name: 'maintenance', mutants: maintenance },
  { name: 'leases', mutants: leases },
  { name: 'dispatch', mutants: dispatch },
  { name: 'kick and tick', mutants: kickAndTick },
  { name: 'cleanup and partitions', mutants: cleanupAndPartitions },
  { name: 'signing', mutants: signing },
  { name: 'egress', mutants: egress },
  { name: 'http client', mutants: httpClient },
  { name: 'senders', mutants: senders },
  { name: 'run', mutants: run },
  { name: 'callbacks over http', mutants: callbacksOverHttp },
  { name: 'authentication', mutants: authentication },
  { name: 'api', mutants: api },
  { name: 'consumer', mutants: consumer },
  { name: 'consumer into databases', mutants: into },
  { name: 'console', mutants: consolePage },
  { name: 'package', mutants: npmPackage },
  { name: 'messages', mutants: messages },
  { name: 'consent', mutants: consent },
  { name: 'callbacks', mutants: callbacks },
  { name: 'sagas and watch', mutants: sagasAndWatch },
  { name: 'lists and settings', mutants: listsAndSettings },
  { name: 'brokers and slack', mutants: brokersAndSlack },
  { name: 'other functions', mutants: otherFunctions },
  { name: 'rights', mutants: rights },
  { name: 'moves of organisations', mutants: orgMoves },
  { name: 'organisations', mutants: organisations },
  { name: 'filters', mutants: filters },
  { name: 'refusals', mutants: refusals },
  { name: 'unreadable', mutants: unreadable },
  { name: 'contracts and tick problem', mutants: contractsAndTickProblem },
  { name: 'copies', mutants: copies },
  { name: 'database faults', mutants: databaseFaults },
  { name: 'cold start', mutants: coldStart },
  { name: 'locks', mutants: locks },
  { name: 'sql of routes', mutants: routes },
  { name: 'locks of endpoints', mutants: locksOfEndpoints },
  { name: 'locks of messages', mutants: locksOfMessages },
  { name: 'locks of moves', mutants: locksOfMoves },
  { name: 'locks of replays', mutants: locksOfReplays },
  { name: 'locks of runs', mutants: locksOfRuns },
  { name: 'locks of upkeep', mutants: locksOfUpkeep },
  { name: 'bounded waits', mutants: boundedWaits },
]
