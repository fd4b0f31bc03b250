/** .ci/cold with programs that stand in for npm and npx: which starts it makes, and when it fails. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { fetchProblem } from '../../supabase/local/packages/problem.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { testFolder } from '../_support/folder.ts'

/** npm reaches the registry if one of its own variables names the authority. */
const npm = 'grep -qs authority "$NODE_EXTRA_CA_CERTS" "$npm_config_cafile"'

/** As npm, or with a Deno that an earlier start has installed. */
const installed = `npm view || test -e "$HOME/.npm/_npx/deno" || exit 127
mkdir -p "$HOME/.npm/_npx" && touch "$HOME/.npm/_npx/deno"`

const arrives = 'echo "verified: the signature is valid"; exit 0'
const untrusted = `echo "${
  fetchProblem('invalid peer certificate: UnknownIssuer', { cacheDir: '', cacheVariable: '' })
}"; exit 1`

/** A start that finds the authority in each variable. */
const finds = `${installed}
if grep -qsr authority "$NODE_EXTRA_CA_CERTS" "$SSL_CERT_FILE" "$SSL_CERT_DIR"; then ${arrives}; fi
${untrusted}`

interface Scene {
  npm?: string
  npx?: string
  /** The text of the file that each variable names. */
  variables?: Record<string, string>
}

/** Runs a copy of .ci/cold in a small project; its lines are without times and without logs. */
async function runCold(scene: Scene): Promise<{ code: number; lines: string[] }> {
  const { variables = { NODE_EXTRA_CA_CERTS: 'authority', SSL_CERT_FILE: 'authority' } } = scene
  const folder = testFolder()
  try {
    for (const name of ['.ci', 'bin', 'home', 'tmp', 'names']) {
      await Deno.mkdir(join(folder, name), { recursive: true })
    }
    await Deno.copyFile(join(projectRoot, '.ci/cold'), join(folder, '.ci/cold'))
    await Deno.writeTextFile(
      join(folder, 'README.md'),
      'npx -y deno@2.9.6 task start --once\n',
    )
    for (const [name, text] of [['npm', scene.npm ?? npm], ['npx', scene.npx ?? finds]]) {
      await Deno.writeTextFile(join(folder, 'bin', name ?? ''), `#!/bin/sh\n${text}\n`, {
        mode: 0o755,
      })
    }
    const env: Record<string, string> = {
      PATH: `${folder}/bin:${Deno.env.get('PATH')}`,
      HOME: join(folder, 'home'),
      TMPDIR: join(folder, 'tmp'),
    }
    for (const [name, text] of Object.entries(variables)) {
      env[name] = join(folder, 'names', name)
      if (name.endsWith('_DIR')) await Deno.mkdir(env[name])
      const file = name.endsWith('_DIR') ? join(env[name], 'one.pem') : env[name]
      await Deno.writeTextFile(file, text)
    }
    await new Deno.Command('git', { args: ['init', '--quiet', folder] }).output()
    const { code, stdout } = await new Deno.Command('bash', {
      args: [join(folder, '.ci/cold')],
      clearEnv: true,
      env,
    }).output()
    const lines = new TextDecoder().decode(stdout).split('\n')
      .filter((line) => line.startsWith('cold start, '))
      .map((line) => line.slice('cold start, '.length).replace(/\d+\.\d s$/, 'n s'))
    return { code, lines }
  } finally {
    await Deno.remove(folder, { recursive: true })
  }
}

Deno.test('each variable alone leads the start to the registry, also one that npm does not read', async () => {
  const variables = {
    NODE_EXTRA_CA_CERTS: 'authority',
    SSL_CERT_FILE: 'authority',
    SSL_CERT_DIR: 'authority',
  }
  expect(await runCold({ variables })).toEqual({
    code: 0,
    lines: [
      'certificate variables as they are: n s',
      'only NODE_EXTRA_CA_CERTS: n s',
      'only SSL_CERT_FILE: n s',
      'only SSL_CERT_DIR: n s',
      'no certificate variable: leads to no registry, as the start says after n s',
    ],
  })
})

Deno.test('a start that does not read a variable whose certificates lead to the registry fails', async () => {
  const npx = `${installed}
if grep -qs authority "$NODE_EXTRA_CA_CERTS"; then ${arrives}; fi
${untrusted}`
  const { code, lines } = await runCold({ npx })
  expect(code).toBe(1)
  expect(lines[2]).toBe('only SSL_CERT_FILE: FAILED with code 1 after n s')
})

Deno.test('a variable that names other authorities need not lead there, but the start must say so', async () => {
  const variables = { NODE_EXTRA_CA_CERTS: 'authority', SSL_CERT_FILE: 'others' }
  const says = await runCold({ variables })
  expect(says.code).toBe(0)
  expect(says.lines[2]).toBe(
    'only SSL_CERT_FILE: leads to no registry, as the start says after n s',
  )
  const silent = finds.replace(untrusted, 'echo "Event … did not arrive"; exit 1')
  const { code, lines } = await runCold({ variables, npx: silent })
  expect(code).toBe(1)
  expect(lines.slice(2)).toEqual([
    'only SSL_CERT_FILE: FAILED with code 1 after n s',
    'no certificate variable: FAILED with code 1 after n s',
  ])
})

Deno.test('a case whose Deno cannot be prepared fails, although the first one works', async () => {
  // Its npm reaches nothing, and its npx leaves nothing behind.
  const npx = `if grep -qs authority "$SSL_CERT_FILE" && grep -qs authority "$NODE_EXTRA_CA_CERTS"
then ${arrives}; fi
exit 127`
  expect(await runCold({ npm: 'exit 1', npx })).toEqual({
    code: 1,
    lines: [
      'certificate variables as they are: n s',
      'only NODE_EXTRA_CA_CERTS: FAILED with code 127 after n s',
      'only SSL_CERT_FILE: FAILED with code 127 after n s',
      'no certificate variable: FAILED with code 127 after n s',
    ],
  })
})

Deno.test('where npm needs no variable each start must arrive', async () => {
  expect(await runCold({ npm: 'exit 0', npx: arrives, variables: {} })).toEqual({
    code: 0,
    lines: ['certificate variables as they are: n s', 'no certificate variable: n s'],
  })
  const { code } = await runCold({ npm: 'exit 0', npx: untrusted, variables: {} })
  expect(code).toBe(1)
})

Deno.test('a start that ends with code 0 without a delivery fails', async () => {
  const { code, lines } = await runCold({ npx: 'exit 0', variables: {} })
  expect(code).toBe(1)
  expect(lines[0]).toBe('certificate variables as they are: FAILED with code 0 after n s')
})
