import type { Output } from '../../../package/client/operation_types.ts'
import { sqlLiteral } from '../app/sql_literal.ts'

type Setting = Pick<Output<'listSettings'>['data'][number], 'name' | 'value' | 'own'>

/** The SQL that sets a setting to its present value, to edit: for `org` if it has a value of its own. */
export function changeSql({ name, value, own }: Setting, org: string): string {
  const args = [name, JSON.stringify(value)].map(sqlLiteral).join(', ')
  return own
    ? `select outbox.set_org_setting(${sqlLiteral(org)}, ${args});`
    : `select outbox.set_setting(${args});`
}
