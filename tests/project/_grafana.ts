/** The types that Grafana publishes for dashboards, in the form in which JSON has them. */

import type * as bargauge from '@grafana/grafana-foundation-sdk/bargauge'
import type * as dashboard from '@grafana/grafana-foundation-sdk/dashboard'
import type * as prometheus from '@grafana/grafana-foundation-sdk/prometheus'
import type * as stat from '@grafana/grafana-foundation-sdk/stat'
import type * as timeseries from '@grafana/grafana-foundation-sdk/timeseries'

/** A value of an enum is its text or number, and Grafana adds what is left out. */
type Json<T> = T extends string ? `${T}`
  : T extends number ? (`${T}` extends `${infer N extends number}` ? N : T)
  : T extends boolean | null | undefined ? T
  : T extends (infer U)[] ? Json<U>[]
  : T extends object ? { [K in keyof T]?: Json<T[K]> }
  : T

type Replace<T, R> = Omit<T, keyof R> & Partial<R>

type Panel<Options, Custom> = Replace<Json<dashboard.Panel>, {
  targets: Json<prometheus.Dataquery>[]
  options: Json<Options>
  fieldConfig: {
    defaults?: Replace<Json<dashboard.FieldConfig>, { custom: Json<Custom> }>
    overrides?: Json<dashboard.FieldConfigSource['overrides']>
  }
}>

/** By the type of the panel. */
export type Panels = {
  bargauge: Panel<bargauge.Options, never>
  row: Json<dashboard.RowPanel>
  stat: Panel<stat.Options, never>
  timeseries: Panel<timeseries.Options, timeseries.FieldConfig>
}

/** A dashboard without its panels. */
export type Head = Omit<Json<dashboard.Dashboard>, 'panels'>
