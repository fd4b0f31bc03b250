import { dirname, join } from 'node:path'

/** What the CLI has sent to deploy one function. */
export interface Deployment {
  slug: string
  metadata: unknown
  /** The uploaded files' paths, from the project's root. */
  files: string[]
}

/** A stand-in for the part of the platform's Management API that a deployment calls. */
export interface ManagementApi extends AsyncDisposable {
  /** Environment that sends the CLI here. */
  readonly env: Record<string, string>
  readonly deployments: Deployment[]
  /** The secrets of the functions. */
  readonly secrets: Map<string, string>
  /** The schemas that the Data API exposes, as the platform writes them. */
  exposed: string
  /** The secret key of the project. */
  key: string
  /** While true, deploying a function fails. */
  refuses: boolean
}

/**
 * Starts the stand-in on a free port. It keeps what is uploaded below `folder`, a folder for each
 * function's slug, where it can be run as the platform would run it.
 */
export async function startManagementApi(folder: string): Promise<ManagementApi> {
  const deployments: Deployment[] = []
  const server = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen(): void {} }, answer)
  const url = `http://127.0.0.1:${server.addr.port}`
  const profile = join(folder, 'profile.yaml')
  await Deno.mkdir(folder, { recursive: true })
  await Deno.writeTextFile(
    profile,
    `name: stand-in\napi_url: ${url}\ndashboard_url: ${url}\nproject_host: localhost\n`,
  )
  const api: ManagementApi = {
    env: {
      SUPABASE_PROFILE: profile,
      SUPABASE_API_URL: url,
      SUPABASE_ACCESS_TOKEN: `sbp_${'0'.repeat(40)}`,
    },
    deployments,
    secrets: new Map(),
    exposed: 'public, graphql_public',
    key: 'sb_secret_of_nobody',
    refuses: false,
    [Symbol.asyncDispose]: () => server.shutdown(),
  }
  return api

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url)
    const slug = url.searchParams.get('slug')
    const [what] = url.pathname.split('/').slice(-1)
    if (what === 'secrets') return await secretsOf(request, api)
    if (what === 'postgrest') return await exposedOf(request, api)
    if (what === 'api-keys') {
      return Response.json([{ name: 'default', type: 'secret', api_key: api.key, id: '1' }])
    }
    if (slug !== null && url.pathname.endsWith('/functions/deploy')) {
      if (api.refuses) return Response.json({ message: 'out of order' }, { status: 500 })
      deployments.push(await keep(slug, await request.formData(), join(folder, slug)))
      return Response.json(deployed(slug), { status: 201 })
    }
    // Several functions are uploaded one by one and made live by one call at the end.
    if (request.method !== 'PUT') return Response.json([])
    return Response.json({ functions: deployments.map((one) => deployed(one.slug)) })
  }
}

async function secretsOf(request: Request, { secrets }: ManagementApi): Promise<Response> {
  if (request.method === 'GET') {
    const list = [...secrets.keys()].map((name) => ({
      name,
      // The platform returns a digest.
      value: 'digest',
      updated_at: '2026-01-01T00:00:00.000Z',
    }))
    return Response.json(list)
  }
  for (const { name, value } of await request.json()) secrets.set(name, value)
  return new Response(null, { status: 201 })
}

async function exposedOf(request: Request, api: ManagementApi): Promise<Response> {
  if (request.method === 'PATCH') api.exposed = (await request.json()).db_schema
  return Response.json({ db_schema: api.exposed, max_rows: 1000 })
}

function deployed(slug: string): Record<string, unknown> {
  const now = Date.now()
  return {
    id: crypto.randomUUID(),
    slug,
    name: slug,
    status: 'ACTIVE',
    version: 1,
    created_at: now,
    updated_at: now,
  }
}

async function keep(slug: string, form: FormData, folder: string): Promise<Deployment> {
  const files: string[] = []
  for (const part of form.getAll('file')) {
    if (typeof part === 'string') continue
    const path = join(folder, part.name)
    await Deno.mkdir(dirname(path), { recursive: true })
    await Deno.writeFile(path, await part.bytes())
    files.push(part.name)
  }
  return { slug, metadata: JSON.parse(String(form.get('metadata'))), files: files.sort() }
}
