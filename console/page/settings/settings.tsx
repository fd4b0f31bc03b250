/** @jsxImportSource preact */

import type { JSX } from 'preact'
import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'
import { useLive } from '../app/data.ts'
import { number } from '../app/format.ts'
import { orgOf, usePlace } from '../app/location.ts'
import { changeSql } from './change_sql.ts'
import { TextFilter } from '../parts/filters.tsx'
import { Copy } from '../parts/copy.tsx'
import { CopyCommands } from '../parts/copy_commands.tsx'
import { Empty, Read } from '../parts/state.tsx'
import { Badge, Foreign } from '../parts/value.tsx'

type Setting = Output<'listSettings'>['data'][number]

/** The settings that apply to the organisation, with their bounds and their effect. */
export function SettingsPage(): JSX.Element {
  const words = (usePlace().query.get('q') ?? '').toLowerCase()
  const settings = useLive(['settings'], (signal) => api.listSettings({ signal }))
  return (
    <>
      <div class='page-head'>
        <h1>Settings</h1>
        <CopyCommands path='/settings' />
      </div>
      <p class='hint'>They are changed in SQL, because the API has no route for that.</p>
      <div class='filters'>
        <TextFilter name='q' label='Search' hint='retention' search />
      </div>
      <Read of={settings}>
        {({ data }) => {
          const found = data.filter(({ name, description }) =>
            `${name} ${description}`.toLowerCase().includes(words)
          )
          return found.length === 0
            ? <Empty title='No setting matches' />
            : <Table settings={found} />
        }}
      </Read>
    </>
  )
}

function Table({ settings }: { settings: Setting[] }): JSX.Element {
  const org = orgOf(usePlace())
  return (
    <div class='table-box'>
      <table>
        <caption class='hidden'>Settings</caption>
        <thead>
          <tr>
            <th scope='col'>Setting</th>
            <th scope='col'>Value</th>
            <th scope='col'>Bounds</th>
            <th scope='col'>Effect</th>
            <th scope='col'>Change</th>
          </tr>
        </thead>
        <tbody>
          {settings.map((one) => (
            <tr key={one.name}>
              <td>
                <code>{one.name}</code>
              </td>
              <td>
                <Foreign text={textOf(one.value)} mono />{' '}
                {one.own && <Badge tone='info'>own</Badge>}
              </td>
              <td class='nowrap'>{boundsOf(one)}</td>
              <td>
                <Foreign text={one.description} />
              </td>
              <td>
                <Copy text={changeSql(one, org)} label='Copy SQL' />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function boundsOf({ type, lowest, highest }: Setting): string {
  if (lowest === null || highest === null) return type
  return `${number(lowest)} to ${number(highest)}`
}
