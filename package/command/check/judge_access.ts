import type { DataApiProblem } from '../remote/data_api.ts'
import { error, type Finding, ok, skipped } from './finding.ts'

const deploying = 'docs/deploying.md#to-hosted-supabase'

/** What the first call of the Data API says about the URL, the key and the exposed schemas. */
export function judgeAccess(problem: DataApiProblem | null): Finding[] {
  if (problem === null) {
    return [
      ok('data-api', 'The Data API responds'),
      ok('key', 'The key is accepted'),
      ok('schema-exposed', 'The schema outbox is exposed'),
    ]
  }
  const { kind, status, message } = problem
  const reached = ok('data-api', 'The Data API responds')
  const keyOk = ok('key', 'The key is accepted')
  const rest = skipped('database', 'The database was not checked, because it could not be read')
  switch (kind) {
    case 'unreachable':
      return [
        error(
          'data-api',
          `The project does not respond: ${message}`,
          'Check the URL, the network, and whether the project is paused',
        ),
        rest,
      ]
    case 'no-data-api':
      return [
        error(
          'data-api',
          `The URL has no Data API: the response has status ${status}`,
          'Give the URL of the project, such as https://<ref>.supabase.co, without a path. ' +
            'Enable the Data API: Project Settings, Data API',
          deploying,
        ),
        rest,
      ]
    case 'refused':
      return [
        reached,
        error(
          'key',
          `The key is refused: ${message}`,
          'Set SUPABASE_SECRET_KEY to a secret key of this project: Project Settings, API Keys. ' +
            'A publishable key has too few rights',
        ),
        rest,
      ]
    case 'unexposed':
      return [
        reached,
        keyOk,
        error(
          'schema-exposed',
          'The schema outbox is not exposed, so no function can reach the database',
          'Add outbox under Project Settings, Data API, Exposed schemas, and to [api].schemas of ' +
            'supabase/config.toml. If it is there, a role setting pgrst.db_schemas overrides it',
          deploying,
        ),
        rest,
      ]
    case 'missing':
      return [
        reached,
        keyOk,
        error(
          'schema',
          'The database has no function outbox.check_installation: Outhook is not installed, or ' +
            'older than this command',
          'Run supabase db push in the folder of the project',
          deploying,
        ),
        rest,
      ]
    case 'not-loaded':
      return [
        reached,
        error(
          'schema-exposed',
          `The Data API cannot read its schemas: ${message}`,
          'An exposed schema may not exist: run supabase db push, or take the schema out of the ' +
            'exposed ones. Otherwise the database may be starting: try again in a minute',
          deploying,
        ),
        rest,
      ]
    case 'failed':
      return [
        reached,
        error(
          'database',
          `The database could not be checked: status ${status}, ${
            problem.code ?? 'no code'
          }, ${message}`,
          'Try again in a minute, and see the log of the database',
        ),
      ]
  }
}
