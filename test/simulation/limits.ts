import type { DeploymentLimits, Limits } from '../../lib/model/limits.ts'
import type { Dice } from '../support/dice.ts'

/** Limits of the deployment in a part of the runs, and of some of the users' keys; money in cents. */
export const createLimits = (dice: Dice): { limits: DeploymentLimits; keyLimits: Record<string, Limits> } => {
  if (dice.chance(0.6)) return { limits: {}, keyLimits: {} }
  const own = dice.chance(0.5)
  const keys = ['user-1', 'user-2', 'claimer-2'].filter(() => !own || dice.chance(0.5))
  return {
    limits: own
      ? {
          ...(dice.chance(0.6) && { max_instances: dice.int(1, 4) }),
          ...(dice.chance(0.6) && { max_price_per_hour: dice.int(200, 6000) }),
          ...(dice.chance(0.6) && { monthly_budget: dice.int(500, 60_000) }),
          ...(dice.chance(0.3) && { max_duration: 3_600_000 }),
        }
      : {},
    keyLimits: Object.fromEntries(
      keys.map((key) => [
        key,
        dice.chance(0.5) ? { max_instances: 1 } : { max_price_per_hour: dice.int(100, 3000) },
      ]),
    ),
  }
}
