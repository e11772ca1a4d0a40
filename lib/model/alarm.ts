/**
 * What a person has to know at once, each with its own page in docs/runbook.md. A metric of that name is counted, so
 * that an alarm can be set on it.
 */
export const alarms = [
  /** A machine was to be given back more than 15 minutes ago and still exists. */
  'ReleaseOverdue',
  /** A machine with Berth's mark that no record leads to its end, or one of the team's that nobody can explain. */
  'OrphanFound',
  /** A launch of which nobody can tell for 5 minutes whether it rented something. */
  'LaunchUnclear',
  /** The clouds' lists and the table differ so much, or were so incomplete, that nothing was touched. */
  'ReconcileBraked',
  /** A cloud charges another sum by the hour than Berth believes to run there. */
  'LedgerDiffers',
  /** An instance whose next step has been due for 15 minutes and does not get done. */
  'StuckInstance',
  /** The published shapes and prices could not be read. */
  'CatalogueFailed',
  /** They lost more than half of their rows at once, and were not believed. */
  'CatalogueShrank',
] as const
export type Alarm = (typeof alarms)[number]
