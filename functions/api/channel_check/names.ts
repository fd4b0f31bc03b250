/** The parts of the check, in the order in which their faults are corrected. */
export const checkNames = ['token', 'phone_number', 'webhook_subscription', 'templates'] as const

export type CheckName = typeof checkNames[number]
