import type { ApiApp } from './context.ts'
import { version } from '../_shared/base/version.ts'
import { type Described, describeFields } from './describe_fields.ts'

type Document = ReturnType<ApiApp['getOpenAPI31Document']>

/** The description of the API (OpenAPI 3.1), generated from the schemas that check requests. */
export function describeApi(app: ApiApp): Document {
  const registry = app.openAPIRegistry
  registry.registerComponent('securitySchemes', 'secretKey', {
    type: 'apiKey',
    in: 'header',
    name: 'apikey',
    description:
      'A secret key of the project (sb_secret_…). It has all scopes in the organisation in X-Org-Id.',
  })
  registry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      "A user's token with app_metadata.org_id and outhook_scopes, or a portal token. Each operation " +
      'names the scope that it requires in x-required-scope.',
  })
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Outhook',
      version,
      description:
        'Endpoints, events, deliveries, dead letters, sagas, messages and channels of a transactional outbox.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [
      { url: 'http://127.0.0.1:54321/functions/v1', description: 'The local stack' },
      {
        url: 'https://{project}.supabase.co/functions/v1',
        description: 'A project on Supabase',
        variables: {
          project: {
            default: 'abcdefghijklmnopqrst',
            description: 'The reference of the project, as its dashboard shows it',
          },
        },
      },
    ],
  })
  // SAFETY: these are JSON Schemas. Described has the members of theirs that are read.
  describeFields((document.components?.schemas ?? {}) as Record<string, Described>)
  return document
}
