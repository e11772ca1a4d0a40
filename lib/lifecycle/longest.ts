import type { Context } from '../context.ts'
import type { CreateRequest } from '../model/request.ts'
import { formatSpan, type Span } from '../model/span.ts'

/** How long an instance of a request may last: as it asks, and never longer than the deployment allows. */
export const longestOf = (
  { settings }: Pick<Context, 'settings'>,
  { maxDuration }: Pick<CreateRequest, 'maxDuration'>,
): Span => {
  const ceiling = settings.limits.max_duration
  if (ceiling === undefined) return maxDuration
  return maxDuration === 'off' ? ceiling : Math.min(maxDuration, ceiling)
}

/** Says so, where that is shorter than what was asked for. */
export const shortened = (
  ctx: Pick<Context, 'settings'>,
  request: Pick<CreateRequest, 'maxDuration'>,
): string[] => {
  const longest = longestOf(ctx, request)
  if (longest === request.maxDuration) return []
  return [
    `maxDuration is ${formatSpan(longest)}, not ${formatSpan(request.maxDuration)}: this deployment allows no more`,
  ]
}
