/** The page of an event, with one of its deliveries first. */
export function deliveryPath(eventId: string, deliveryId: string): string {
  return `/events/${eventId}?delivery=${encodeURIComponent(deliveryId)}`
}
