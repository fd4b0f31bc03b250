import { dirname, join } from 'node:path'

/** What the CLI has sent to deploy one function. */
export interface Deployment {
  slug: string
  metadata: unknown
  /** The uploaded files' paths, from the project's root. */
  files: string[]
}

/** A stand-in for the part of the platform's Management API that `functions deploy` calls. */
export interface ManagementApi extends AsyncDisposable {
  /** Environment that sends the CLI here. */
  readonly env: Record<string, string>
  readonly deployments: Deployment[]
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
  return {
    env: { SUPABASE_PROFILE: profile, SUPABASE_ACCESS_TOKEN: `sbp_${'0'.repeat(40)}` },
    deployments,
    [Symbol.asyncDispose]: () => server.shutdown(),
  }

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url)
    const slug = url.searchParams.get('slug')
    if (slug !== null && url.pathname.endsWith('/functions/deploy')) {
      deployments.push(await keep(slug, await request.formData(), join(folder, slug)))
      return Response.json(deployed(slug), { status: 201 })
    }
    // Several functions are uploaded one by one and made live by one call at the end.
    if (request.method !== 'PUT') return Response.json([])
    return Response.json({ functions: deployments.map((one) => deployed(one.slug)) })
  }
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
