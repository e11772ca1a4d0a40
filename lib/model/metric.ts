/** What is counted beside alarms, each with its unit in CloudWatch's words and the dimension it is told by. */
export const metrics = {
  /** From the request to the proof that the machine is what was bought. */
  SecondsToReady: { unit: 'Seconds', by: 'backend' },
  /** Instances that are over, by why. */
  Ended: { unit: 'Count', by: 'reason' },
  /** Rented machines, whoever has them, at each reconcile. */
  LiveMachines: { unit: 'Count', by: 'backend' },
  /** Those of them that nobody has. */
  IdleMachines: { unit: 'Count', by: 'backend' },
  /** What the live machines cost together, in US dollars an hour. */
  PricePerHour: { unit: 'None', by: 'backend' },
} as const
export type Metric = keyof typeof metrics
