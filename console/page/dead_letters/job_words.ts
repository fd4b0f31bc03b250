import type { Output } from '../../../package/client/operation_types.ts'
import { count, number } from '../app/format.ts'
import { handledOf, sentOf } from './job_total.ts'

type Job = Output<'getReplayJob'>

/** What is not sent if the job ends now. */
export function leftText(job: Job, total: number | null): string {
  if (job.source === 'events') {
    if (total === null) return 'The events that it has not reached are not sent.'
    const left = Math.max(0, total - handledOf(job))
    return `${count(left, 'event')} that it has not reached ${left === 1 ? 'is' : 'are'} not sent.`
  }
  if (total === null) return 'The dead letters that it has not reached stay open.'
  const left = Math.max(0, total - handledOf(job))
  return `${count(left, 'dead letter')} that it has not reached ${
    left === 1 ? 'stays' : 'stay'
  } open.`
}

/** How far it is. */
export function sentenceOf(job: Job): string {
  const again = job.source === 'dead_letters' ? 'sent again' : 'sent'
  const sent = `${number(sentOf(job))} ${sentOf(job) === 1 ? 'was' : 'were'} ${again}`
  const skipped = job.skipped === 0
    ? ''
    : `, ${number(job.skipped)} skipped: ${
      job.source === 'dead_letters'
        ? 'in flight, or their endpoint is deleted'
        : 'set aside, deleted meanwhile, or their filter failed'
    }`
  if (job.status === 'running') return `It runs: ${sent}${skipped}.`
  if (job.status === 'paused') return `It is paused: ${sent}${skipped}.`
  if (job.status === 'cancelled') {
    return `It was cancelled: ${sent}${skipped}. What was ${again} stays so.`
  }
  return `It is done: ${sent}${skipped}.`
}
