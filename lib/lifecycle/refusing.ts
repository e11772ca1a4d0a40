import { BerthError } from '../model/errors.ts'
import { OverLimit } from './spending.ts'

/** What a limit does not allow is said to who asked for it, with the numbers. */
export const refusing = async <Value>(work: () => Promise<Value>): Promise<Value> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof OverLimit)) throw error
    const { limit, message } = error.excess
    throw new BerthError('limit_exceeded', `Nothing was rented or claimed: ${message}.`, [
      { path: `limits.${limit}`, message },
    ])
  }
}
