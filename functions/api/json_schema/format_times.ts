/** A day that exists, as in RFC 3339. */
export function isDate(text: string): boolean {
  if (text.length !== 10) return false
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []
  if (year === undefined || month === undefined || day === undefined) return false
  if (month < '01' || month > '12' || day < '01') return false
  return Number(day) <= daysOf(Number(year), Number(month))
}

function daysOf(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  if (month === 2) return isLeap ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** A time of day with its zone, as in RFC 3339. A leap second is the last of a day in UTC. */
export function isTime(text: string): boolean {
  const found = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i.exec(text)
  if (found === null) return false
  const [hour = 0, minute = 0, second = 0] = found.slice(1, 4).map(Number)
  const [zoneHour = 0, zoneMinute = 0] = found.slice(5, 7).map((part) => Number(part ?? 0))
  if (hour > 23 || minute > 59 || second > 60 || zoneHour > 23 || zoneMinute > 59) return false
  if (second < 60) return true
  const offset = (found[4] === '-' ? -1 : 1) * (zoneHour * 60 + zoneMinute)
  return (hour * 60 + minute - offset + 1440) % 1440 === 1439
}

/** A date and a time with T, or one space, between them. */
export function isDateTime(text: string): boolean {
  return /^[t\s]$/i.test(text.charAt(10)) && isDate(text.slice(0, 10)) && isTime(text.slice(11))
}
