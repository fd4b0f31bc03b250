/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { api } from '../app/api.ts'
import { everyMs, useLive } from '../app/data.ts'
import { Snippet } from '../overview/first_endpoint.tsx'
import { CopyCommands } from '../parts/copy_commands.tsx'
import { Empty, Read } from '../parts/state.tsx'
import { Foreign, Time } from '../parts/value.tsx'
import { MessageTabs } from './tabs.tsx'

/** The templates of Meta, by the codes that messages name. */
export function TemplatesPage(): JSX.Element {
  const templates = useLive(['templates'], (signal) => api.listTemplates({ signal }), {
    every: everyMs.slow,
  })
  return (
    <>
      <MessageTabs at='/templates' />
      <Read of={templates}>
        {({ data }) =>
          data.length === 0
            ? (
              <Empty title='No template is assigned yet'>
                <p>
                  A message that you begin needs a template, which Meta has approved. Assign it to a
                  code of your own, which messages then name:
                </p>
                <Snippet
                  text={`curl -X PUT "$API_URL/functions/v1/api/v1/templates/reminder" ` +
                    `-H "apikey: $SECRET_KEY" -H 'content-type: application/json' ` +
                    `-d '{"name": "appointment_reminder", "language": "fr", "category": "UTILITY"}'`}
                />
              </Empty>
            )
            : (
              <div class='table-box' role='region' aria-label='Templates' tabIndex={0}>
                <table>
                  <caption class='hidden'>Templates</caption>
                  <thead>
                    <tr>
                      <th scope='col'>Code</th>
                      <th scope='col'>Name at Meta</th>
                      <th scope='col'>Language</th>
                      <th scope='col'>Category</th>
                      <th scope='col'>Parameters</th>
                      <th scope='col'>Changed</th>
                    </tr>
                  </thead>
                  <tbody>
                    {data.map((one) => (
                      <tr key={one.code}>
                        <td class='strong'>
                          <Foreign text={one.code} />
                        </td>
                        <td>
                          <Foreign text={one.name} mono />
                        </td>
                        <td>{one.language}</td>
                        <td>{one.category.toLowerCase()}</td>
                        <td>{one.parameterFormat.toLowerCase()}</td>
                        <td class='nowrap'>
                          <Time at={one.updatedAt} />
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
      </Read>
      <CopyCommands path='/templates' />
      <p class='quiet'>
        A template that Meta has paused, disabled or recategorised holds its messages. The check of
        a channel says so.
      </p>
    </>
  )
}
