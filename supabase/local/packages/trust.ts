/**
 * Whom this machine trusts, in the form that Deno takes. Companies whose network has a certificate
 * authority of its own name it in different places: NODE_EXTRA_CA_CERTS (of which Deno 2.1 knows
 * nothing), SSL_CERT_FILE (which Deno reads for its system store alone), npm's `cafile`, or the
 * system's store. Deno reads all of them once they stand in DENO_CERT and DENO_TLS_CA_STORE.
 */

import { createHash } from 'node:crypto'
import { join } from 'node:path'

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string>>

/** What a program that fetches packages gets besides its environment. */
export interface Trust {
  variables: Record<string, string>
  /** Variables that it must not get, since they name a file that is not there. */
  unset: string[]
  /** What a person should know, a line each. */
  notes: string[]
}

/** The file system, as far as it is asked here. */
export interface Files {
  /** The text of a file, or null when it cannot be read. */
  read(path: string): string | null
  /** Writes a file whole, and returns whether that was possible. */
  write(path: string, text: string): boolean
}

/** Variables that name a file of certificates. */
const NAMED = ['DENO_CERT', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'] as const

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * Reads whom the machine trusts out of `env` and the files that it names. Certificates of several
 * files are put together into one file in `cacheDir`, since DENO_CERT takes one.
 */
export function machineTrust(env: Variables, files: Files, cacheDir: string): Trust {
  const trust: Trust = { variables: {}, unset: [], notes: [] }
  const found = new Map<string, string[]>()
  for (const name of NAMED) {
    const path = env[name]
    if (path === undefined || path === '') continue
    const certificates = files.read(path)?.match(CERTIFICATE) ?? null
    if (certificates !== null) found.set(path, certificates)
    else {
      trust.unset.push(name)
      trust.notes.push(
        `${name} names ${path}, which holds no certificate that can be read: passed over`,
      )
    }
  }
  const cafile = npmSetting('cafile', env, files)
  const certificates = cafile === null ? null : files.read(cafile)?.match(CERTIFICATE) ?? null
  if (cafile !== null && certificates !== null) found.set(cafile, certificates)

  // Without this Deno takes its built-in list alone.
  if (!env.DENO_TLS_CA_STORE) trust.variables.DENO_TLS_CA_STORE = 'system,mozilla'
  const file = oneFile(found, files, cacheDir)
  if (file !== null) {
    trust.variables.DENO_CERT = file
    // npm is a program of Node; its own `cafile` goes before this.
    if (!env.NODE_EXTRA_CA_CERTS || trust.unset.includes('NODE_EXTRA_CA_CERTS')) {
      trust.variables.NODE_EXTRA_CA_CERTS = file
    }
  }
  trust.unset = trust.unset.filter((name) => !(name in trust.variables))
  // npm may have a mirror or a proxy that Deno is not told of.
  const handOn = (name: string, value: string | null): void => {
    if (value && !env[name] && !env[name.toLowerCase()]) trust.variables[name] = value
  }
  handOn('NPM_CONFIG_REGISTRY', npmSetting('registry', env, files))
  handOn('HTTPS_PROXY', npmSetting('https-proxy', env, files) ?? npmSetting('proxy', env, files))
  handOn('NO_PROXY', npmSetting('noproxy', env, files))
  return trust
}

/**
 * A setting of npm's: from its environment variable, which npx sets for what it starts, or from the
 * person's and the machine's npmrc.
 */
function npmSetting(name: string, env: Variables, files: Files): string | null {
  const variable = `npm_config_${name.replaceAll('-', '_')}`
  const set = env[variable] || env[variable.toUpperCase()]
  if (set) return set
  const userFile = env.npm_config_userconfig ?? env.NPM_CONFIG_USERCONFIG ??
    join(env.HOME ?? env.USERPROFILE ?? '', '.npmrc')
  for (const path of [userFile, env.npm_config_globalconfig ?? env.NPM_CONFIG_GLOBALCONFIG]) {
    const text = path === undefined ? null : files.read(path)
    const line = text?.match(new RegExp(String.raw`^[ \t]*${name}[ \t]*=[ \t]*(.*?)[ \t]*$`, 'm'))
    if (!line?.[1]) continue
    const value = line[1].replace(/^(["'])(.*)\1$/, '$2')
    return value.replace(/\$\{(\w+)\}/g, (whole, key: string) => env[key] ?? whole)
  }
  return null
}

/** The one file with all certificates: the only one that there is, or a new one. */
function oneFile(
  found: ReadonlyMap<string, string[]>,
  files: Files,
  cacheDir: string,
): string | null {
  const [first] = found.keys()
  if (first === undefined || found.size === 1) return first ?? null
  const text = [...new Set([...found.values()].flat())].join('\n') + '\n'
  const name = createHash('sha256').update(text).digest('hex').slice(0, 16)
  const path = join(cacheDir, `outhook-certificates-${name}.pem`)
  if (files.read(path) === text || files.write(path, text)) return path
  return first
}
