/** The manifests and recipes of deploy/ name what the code has. */

import { expect } from '@std/expect'
import { loadAll } from 'js-yaml'
import { join } from 'node:path'
import { workerFlags, workerThreads } from '../../functions/_shared/runtime/node_runtime.ts'
import { callTimeoutMs } from '../../functions/_shared/database/dispatch.ts'
import { serveHealth } from '../../functions/deliver/health_server.ts'
import { gaugeFamilies } from '../../functions/metrics/gauges.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { someAnswer } from '../functions/metrics/_answer.ts'
import { readContainerfile } from '../package/_support/containerfile.ts'

const read = (path: string): Promise<string> => Deno.readTextFile(join(projectRoot, path))

/** The documents of a file of YAML. Throws if it is not valid. */
// deno-lint-ignore no-explicit-any
async function documents(path: string): Promise<any[]> {
  return loadAll(await read(path))
}

/** The longest time that a worker takes to end, in seconds: a request, its lease, and a call. */
async function longestDrain(): Promise<number> {
  const [, timeoutMs] = /timeout_ms between \d+ and (\d+)/.exec(
    await read('sql/endpoints/endpoint.sql'),
  ) ?? []
  return (Number(timeoutMs) + 5_000 + callTimeoutMs) / 1_000
}

const [deployment, budget] = await documents('deploy/kubernetes/worker.yaml')
const [scaled] = await documents('deploy/kubernetes/keda.yaml')
const pod = deployment.spec.template.spec
const [container] = pod.containers
const recipes = ['Containerfile', 'Containerfile.deno', 'Containerfile.package']
const lines = new Map(
  await Promise.all(recipes.map(async (name) =>
    [
      name,
      readContainerfile(await read(`deploy/container/${name}`)),
    ] as const
  )),
)

/** What stands after the instruction, for each time that the recipe has it. */
function all(recipe: string, instruction: string): string[] {
  return (lines.get(recipe) ?? []).filter(([name]) => name === instruction).map(([, rest]) => rest)
}

Deno.test('the manifests select the workers that they make, under names that a cluster accepts', () => {
  const labels = { 'app.kubernetes.io/name': 'outhook-worker' }
  expect([deployment.kind, deployment.apiVersion]).toEqual(['Deployment', 'apps/v1'])
  expect([budget.kind, budget.apiVersion]).toEqual(['PodDisruptionBudget', 'policy/v1'])
  expect(deployment.spec.template.metadata.labels).toEqual(labels)
  expect(deployment.spec.selector.matchLabels).toEqual(labels)
  expect(budget.spec.selector.matchLabels).toEqual(labels)
  expect(scaled.spec.scaleTargetRef).toEqual({ name: deployment.metadata.name })
  expect(container.volumeMounts.map(({ name }: { name: string }) => name))
    .toEqual(pod.volumes.map(({ name }: { name: string }) => name))
})

Deno.test('a rollout keeps all workers until a new one is ready', () => {
  expect(deployment.spec.strategy).toEqual({
    type: 'RollingUpdate',
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
  })
  expect(budget.spec.maxUnavailable).toBe(1)
  // Otherwise a node cannot be drained while the database is away.
  expect(budget.spec.unhealthyPodEvictionPolicy).toBe('AlwaysAllow')
})

Deno.test('the probes ask for paths that the worker has, at the port that the worker is given', async () => {
  const health = { unready: () => null, stuck: () => 'no call for five minutes' }
  const server = await serveHealth({ port: 0, health })
  try {
    const found: number[] = []
    for (const probe of [container.readinessProbe, container.livenessProbe]) {
      expect(probe.httpGet.port).toBe(container.ports[0].name)
      const response = await fetch(`http://127.0.0.1:${server.port}${probe.httpGet.path}`)
      await response.body?.cancel()
      found.push(response.status)
    }
    expect(found).toEqual([200, 503])
  } finally {
    await server.close()
  }
  expect(container.env).toEqual([
    { name: 'OUTHOOK_HEALTH_PORT', value: String(container.ports[0].containerPort) },
  ])
  for (const recipe of recipes) {
    expect(all(recipe, 'EXPOSE')).toEqual([String(container.ports[0].containerPort)])
    expect(all(recipe, 'ENV')).toContain(
      `OUTHOOK_HEALTH_PORT=${container.ports[0].containerPort}`,
    )
  }
})

Deno.test('each way to stop a worker gives it the time for its longest request', async () => {
  const least = await longestDrain()
  expect(least).toBe(75)
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(least)
  const [, unit] = /^TimeoutStopSec=(\d+)s$/m.exec(
    await read('deploy/systemd/outhook-worker@.service'),
  ) ?? []
  const [, engine] = /--stop-timeout (\d+) /.exec(await read('deploy/README.md')) ?? []
  expect([Number(unit), Number(engine)]).toEqual([
    pod.terminationGracePeriodSeconds,
    pod.terminationGracePeriodSeconds,
  ])
})

Deno.test('no worker runs as root, or with more rights than it needs', () => {
  const { runAsUser, runAsGroup, runAsNonRoot } = pod.securityContext
  for (const recipe of recipes) expect(all(recipe, 'USER')).toEqual([`${runAsUser}:${runAsGroup}`])
  expect([runAsNonRoot, pod.automountServiceAccountToken]).toEqual([true, false])
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
})

Deno.test('the autoscaler asks for metrics that the function has', () => {
  const known = gaugeFamilies(someAnswer()).map(({ name }) => name)
  // deno-lint-ignore no-explicit-any
  const queries: string[] = scaled.spec.triggers.map(({ metadata }: any) => metadata.query)
  const named = queries.flatMap((query) => query.match(/outhook_\w+/g) ?? [])
  expect(named).toEqual(['outhook_oldest_due_age_seconds', 'outhook_oldest_unrouted_age_seconds'])
  expect(known).toEqual(expect.arrayContaining(named))
})

Deno.test('the autoscaler keeps the workers while it cannot read the metrics', async () => {
  const { fallback, minReplicaCount, maxReplicaCount, triggers } = scaled.spec
  expect(fallback.behavior).toBe('currentReplicasIfHigher')
  expect(fallback.replicas).toBe(minReplicaCount)
  expect(minReplicaCount).toBeGreaterThan(0)
  expect(maxReplicaCount).toBeGreaterThan(minReplicaCount)
  expect(fallback.failureThreshold).toBeGreaterThan(0)
  for (const { metadata, metricType } of triggers) {
    // Otherwise no result would be no backlog.
    expect([metadata.query, metadata.ignoreNullValues]).toEqual([metadata.query, 'false'])
    expect([metadata.query, metricType]).toEqual([metadata.query, 'Value'])
  }
  // Older ones ignore a fallback for triggers of this type.
  expect(await read('deploy/README.md')).toContain('[KEDA](https://keda.sh) 2.18 or newer')
})

Deno.test('the variables of the files are those that a worker reads', async () => {
  const known: string[] = (await read('functions/deliver/env.ts')).match(/\bOUTHOOK_\w+/g) ?? []
  for (const path of ['worker.env.example', 'kubernetes/worker.yaml', 'container/program.mjs']) {
    const named = (await read(`deploy/${path}`)).match(/\bOUTHOOK_\w+/g) ?? []
    expect([path, named.filter((name) => !known.includes(name))]).toEqual([path, []])
  }
  const example = await read('deploy/worker.env.example')
  const set = example.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  expect(set.map((line) => line.split('=')[0])).toEqual(['OUTHOOK_DB_URL', 'OUTHOOK_PROJECT'])
})

Deno.test('the recipes pin their base images, start the worker with its flags, and hold no secret', async () => {
  // Its module would make this test fetch Node.
  const [, newNode] = /newNode = '([\d.]+)'/.exec(await read('tests/_support/node.ts')) ?? []
  const node = `NODE_IMAGE=node:${newNode}-bookworm-slim`
  const images = recipes.map((recipe) => all(recipe, 'ARG').join())
  expect(images).toEqual([node, `DENO_IMAGE=denoland/deno:${Deno.version.deno}`, node])
  for (const recipe of recipes) {
    const [command = ''] = all(recipe, 'CMD')
    const isDeno = recipe.endsWith('.deno')
    expect(JSON.parse(command).join(isDeno ? '' : ' '))
      .toContain(workerFlags.join(isDeno ? ',' : ' '))
    const env = all(recipe, 'ENV')
    expect(env.includes(`UV_THREADPOOL_SIZE=${workerThreads}`)).toBe(!isDeno)
    expect(env.filter((one) => /secret|password|token|key|url/i.test(one))).toEqual([])
    expect(all(recipe, 'COPY').map((one) => one.split(' ')[1])).toEqual(
      recipe.endsWith('.package') ? ['package.tgz', 'program.mjs'] : ['worker.mjs'],
    )
  }
})
