/** Forms in which projects have their supabase/config.toml, by what is special about each. */

/** Forms that init changes by itself. */
export const shapes: Readonly<Record<string, string>> = {
  'an empty file': '',
  'only blank lines': '\n\n',
  'only a comment': '# my project\n',
  'no end of line at the end': 'project_id = "a"',
  'the schemas of the CLI':
    '[api]\nenabled = true\nport = 54321\n# Schemas to expose.\nschemas = ["public", "graphql_public"]\n' +
    'extra_search_path = ["public", "extensions"]\nmax_rows = 1000\n',
  'one schema': '[api]\nschemas = ["public"]\n',
  'no schema': '[api]\nschemas = []\n',
  'blanks in an empty array': '[api]\nschemas = [  ]\n',
  'a comment in an empty array': '[api]\nschemas = [ # none\n]\n',
  'blanks inside of the brackets': '[api]\nschemas = [ "public", "storage" ]\n',
  'no blanks': '[api]\nschemas=["public","storage"]\n',
  'single quotes': "[api]\nschemas = ['public', 'storage']\n",
  'a comma at the end': '[api]\nschemas = ["public", "storage",]\n',
  'a comment behind the array': '[api]\nschemas = ["public"] # exposed\nmax_rows = 10\n',
  'several lines': '[api]\nschemas = [\n  "public",\n  "storage"\n]\n',
  'several lines with a comma at the end': '[api]\nschemas = [\n  "public",\n  "storage",\n]\n',
  'several lines with comments':
    '[api]\nschemas = [\n  "public", # ours\n  # theirs\n  "storage" # last\n  # end\n]\n',
  'several lines that begin at the bracket': '[api]\nschemas = ["public",\n  "storage"]\n',
  'several lines, the bracket behind the last': '[api]\nschemas = [\n  "public",\n  "storage" ]\n',
  'tabs': '[api]\n\tschemas = [\n\t\t"public"\n\t]\n',
  'a bracket in a comment': '[api]\nschemas = ["public", # not ] here\n "storage"]\n',
  'a bracket in a name': '[api]\nschemas = ["public", "odd]name"]\n',
  'a quote in a name': '[api]\nschemas = ["public", "odd\\"name"]\n',
  'no schemas in the section': '[api]\nenabled = true\n\n[db]\nport = 54322\n',
  'an empty section at the end': '[api]',
  'a section with a comment': '[api] # the Data API\nenabled = true\n',
  'a section with blanks': '[ api ]\nenabled = true\n',
  'a section in quotes': '["api"]\nenabled = true\n',
  'no section': 'project_id = "a"\n\n[db]\nport = 54322\n',
  'a dotted key': 'api.schemas = ["public"]\n\n[db]\nport = 54322\n',
  'another dotted key': 'api.enabled = true\n\n[db]\nport = 54322\n',
  'an inline table': 'api = { enabled = true, schemas = ["public"] }\n\n[db]\nport = 54322\n',
  'a quoted key': '[api]\n"schemas" = ["public"]\n',
  'another key named schemas first':
    '[other]\nschemas = ["x"]\n\n[api]\nschemas = ["public"]\n\n[more]\nschemas = ["y"]\n',
  'schema_paths beside it':
    '[db.migrations]\nschema_paths = ["./a.sql"]\n[api]\nschemas = ["public"]\n',
  'the same text in a string': 'note = "schemas = [1]"\n[api]\nschemas = ["public"]\n',
  'a section name in a string': 'note = """\n[api]\n"""\n[api]\nenabled = true\n',
  'Windows line ends': '[api]\r\nschemas = ["public"]\r\n\r\n[db]\r\nport = 54322\r\n',
  'Windows line ends in an array': '[api]\r\nschemas = [\r\n  "public"\r\n]\r\n',
  'Windows line ends and no schemas': '[api]\r\nenabled = true\r\n',
  'a remote without schemas': '[api]\nschemas = ["public"]\n[remotes.live]\nproject_id = "b"\n',
  'a remote with schemas':
    '[api]\nschemas = ["public"]\n\n[remotes.live.api]\nschemas = ["public", "extra"]\n',
  'the schema in api but not in the remote':
    '[api]\nschemas = ["public", "outbox"]\n\n[remotes.live.api]\nschemas = ["public"]\n',
  'functions of the project':
    '[api]\nschemas = ["public"]\n\n[functions.deliver]\nverify_jwt = true\n\n[functions.api]\n',
  'one of our functions with settings of its own':
    '[api]\nschemas = ["public"]\n\n[functions.outhook-deliver]\nverify_jwt = false\nimport_map = "./x.json"\n',
  'a function with a dotted key':
    '[functions]\napi.verify_jwt = true\n[api]\nschemas = ["public"]\n',
  'environment variables':
    '[api]\nschemas = ["public"]\n[auth.external.x]\nsecret = "env(SECRET)"\n',
  'a date and big numbers':
    'at = 2026-01-31T12:00:00Z\nn = 9007199254740991\n[api]\nschemas = []\n',
  'everything there':
    '[api]\nschemas = ["public", "outbox"]\n[functions.outhook-deliver]\nverify_jwt = false\n' +
    '[functions.outhook-api]\nenabled = true\nverify_jwt = false\n',
  'functions as an inline table':
    'functions = { a = { verify_jwt = true } }\n[api]\nschemas = ["outbox"]\n',
  'functions as an empty inline table': 'functions = {}\n[api]\nschemas = ["public"]\n',
  'a remote in quotes':
    '[api]\nschemas = ["public"]\n\n[remotes."a.b".api]\nschemas = ["public", "extra"]\n',
  'a byte order mark': '\uFEFFproject_id = "a"\n[api]\nschemas = ["public"]\n',
}

/** Forms that a person has to change, with what init says of each. */
export const shapesByHand: Readonly<Record<string, [text: string, says: string[]]>> = {
  'an escape in the name of the schemas of a remote': [
    '[remotes."a.b".api]\n"sch\\u0065mas" = ["public", "storage"]\n',
    [
      'In [remotes."a.b".api], add "outbox" to schemas:',
      '  schemas = ["public", "storage", "outbox"]',
    ],
  ],
  'an escape in the name of functions': [
    '"functi\\u006fns" = { a = { verify_jwt = true } }\n[api]\nschemas = ["public"]\n',
    [
      'Add to functions, in the form that it has:',
      '  outhook-deliver = { enabled = true, verify_jwt = false }',
      'Add to functions, in the form that it has:',
      '  outhook-api = { enabled = true, verify_jwt = false }',
    ],
  ],
  'no verify_jwt and a Data API that is off': [
    '[api]\nenabled = false\n[functions.outhook-deliver]\nimport_map = "./x.json"\n',
    ['In [api], change: enabled = true', 'In [functions.outhook-deliver], set: verify_jwt = false'],
  ],
  'settings of a remote that prevent a delivery': [
    '[remotes.live.api]\nenabled = false\n[remotes.live.functions.outhook-deliver]\n' +
    'enabled = false\n[remotes.live.functions.outhook-api]\nverify_jwt = true\n',
    [
      'In [remotes.live.api], change: enabled = true',
      'In [remotes.live.functions.outhook-deliver], change: enabled = true',
      'In [remotes.live.functions.outhook-api], set: verify_jwt = false',
    ],
  ],
}
