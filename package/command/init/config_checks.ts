import { keyOf, type Table, tableAt, tableOf } from './toml_table.ts'

/** A value such as env(SCHEMAS) comes from elsewhere: it cannot be checked here. */
export function unknownSchemas(config: Table, schema: string): string[] {
  const paths = [
    ['api'],
    ...Object.keys(tableOf(config.remotes)).map((name) => ['remotes', name, 'api']),
  ]
  return paths.flatMap((path) => {
    const { schemas } = tableAt(config, path)
    if (schemas === undefined || Array.isArray(schemas)) return []
    const where = [...path, 'schemas'].map(keyOf).join('.')
    return [`${where} is ${JSON.stringify(schemas)}: check that its value has ${schema}`]
  })
}

/** Lines for settings that are there, and with which nothing would be delivered. */
export function wrongSettings(config: Table, functions: readonly string[]): string[] {
  const remotes = Object.keys(tableOf(config.remotes)).map((name) => ['remotes', name])
  return [[], ...remotes].flatMap((root) => {
    const at = (...names: string[]): string => [...root, ...names].map(keyOf).join('.')
    const api = tableAt(config, [...root, 'api'])
    const lines = api.enabled === false ? [`In [${at('api')}], change: enabled = true`] : []
    for (const name of functions) {
      const path = [...root, 'functions', name]
      if (!hasTable(config, path)) continue
      const { enabled, verify_jwt: verifies } = tableAt(config, path)
      const where = `In [${at('functions', name)}]`
      if (enabled === false) lines.push(`${where}, change: enabled = true`)
      // A section of a remote only says what is different there.
      const isRight = verifies === false || (verifies === undefined && root.length > 0)
      if (!isRight) lines.push(`${where}, set: verify_jwt = false`)
    }
    return lines
  })
}

function hasTable(config: Table, path: readonly string[]): boolean {
  return Object.hasOwn(tableAt(config, path.slice(0, -1)), path.at(-1) ?? '')
}
