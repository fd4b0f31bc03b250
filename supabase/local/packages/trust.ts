/**
 * The certificate authorities that this machine trusts, in a form that Deno accepts. A company network
 * with its own authority may name it in NODE_EXTRA_CA_CERTS (which Deno 2.1 ignores), SSL_CERT_FILE
 * (which Deno reads only for its system store), npm's `cafile`, or the system's store. Deno uses all of
 * them if they are in DENO_CERT and DENO_TLS_CA_STORE.
 */

import { createHash } from 'node:crypto'
import { join } from 'node:path'

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string>>

/** What a program that fetches packages needs in addition to its environment. */
export interface Trust {
  variables: Record<string, string>
  /** Variables to remove, because they name a missing file. */
  unset: string[]
  /** Notes to print, one line each. */
  notes: string[]
}

/** The file system operations of this module. */
export interface Files {
  /** The text of a file, or null if it cannot be read. */
  read(path: string): string | null
  /** Writes a complete file; returns false if that is not possible. */
  write(path: string, text: string): boolean
}

/** Variables that name a file of certificates. */
const NAMED = ['DENO_CERT', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'] as const

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * Finds the trusted authorities in `env` and the files that it names. If there are several files, it writes
 * one file with all certificates into `cacheDir`, because DENO_CERT names one file.
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
        `${name} names ${path}, which has no readable certificate: it is ignored`,
      )
    }
  }
  const cafile = npmSetting('cafile', env, files)
  const certificates = cafile === null ? null : files.read(cafile)?.match(CERTIFICATE) ?? null
  if (cafile !== null && certificates !== null) found.set(cafile, certificates)

  // Without this Deno uses only its built-in list.
  if (!env.DENO_TLS_CA_STORE) trust.variables.DENO_TLS_CA_STORE = 'system,mozilla'
  const file = oneFile(found, files, cacheDir)
  if (file !== null) {
    trust.variables.DENO_CERT = file
    // npm runs on Node and reads this variable; its own `cafile` has precedence.
    if (!env.NODE_EXTRA_CA_CERTS || trust.unset.includes('NODE_EXTRA_CA_CERTS')) {
      trust.variables.NODE_EXTRA_CA_CERTS = file
    }
  }
  trust.unset = trust.unset.filter((name) => !(name in trust.variables))
  // Deno does not read npm's settings for a mirror or a proxy.
  const handOn = (name: string, value: string | null): void => {
    if (value && !env[name] && !env[name.toLowerCase()]) trust.variables[name] = value
  }
  handOn('NPM_CONFIG_REGISTRY', npmSetting('registry', env, files))
  handOn('HTTPS_PROXY', npmSetting('https-proxy', env, files) ?? npmSetting('proxy', env, files))
  handOn('NO_PROXY', npmSetting('noproxy', env, files))
  return trust
}

/** A setting of npm, from its environment variable, which npx sets, or from the npmrc of user or machine. */
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

/** The file with all certificates: the only file, or a new one that joins several. */
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
