/** @jsxImportSource preact */

import type { JSX } from 'preact'
import { usePortal } from '../app/context.ts'
import { Json } from '../parts/json.tsx'
import type { EventType } from './catalogue.ts'
import { exampleOf } from './example.ts'

/** An example of the payload of an event type, and its schema. */
export function TypeDetails({ one }: { one: EventType }): JSX.Element {
  const { words: { t } } = usePortal()
  if (one.schema === null) return <p class='quiet'>{t('noSchema')}</p>
  return (
    <div class='stack'>
      <Json text={JSON.stringify(exampleOf(one.schema))} name={t('example')} />
      <Json text={JSON.stringify(one.schema)} name={t('schema')} />
    </div>
  )
}
