import { parseArgs } from 'node:util'
import * as z from 'zod'
import { messageOf } from '../../lib/model/errors.ts'

/**
 * Reads a command's options, each checked by its schema. `--help` prints the usage and ends the process well; a wrong
 * option says what is wrong, then the usage, and ends it badly.
 */
export const readFlags = <Shape extends z.ZodRawShape>(
  shape: Shape,
  usage: string,
): z.infer<z.ZodObject<Shape>> => {
  const names = Object.keys(shape)
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: 'boolean' } } })
    if (values.help) {
      console.log(usage)
      process.exit(0)
    }
    const result = z.object(shape).safeParse(values)
    if (result.success) return result.data
    throw new Error(
      result.error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`).join('; '),
    )
  } catch (error) {
    console.error(`${messageOf(error)}\n\n${usage}`)
    process.exit(1)
  }
}
