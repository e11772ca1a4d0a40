import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'

/**
 * Another write was at the same items: nothing was judged and nothing written, and the SDK does not ask again. A plain
 * write that meets a transaction fails so, too. By its name, since bundles have no class of its own for it.
 */
export const isConflict = (error: unknown): boolean =>
  (error instanceof Error && error.name === 'TransactionConflictException') ||
  (error instanceof TransactionCanceledException &&
    (error.CancellationReasons ?? []).some(({ Code }) => Code === 'TransactionConflict'))
