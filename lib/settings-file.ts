import { parse } from 'yaml'
import { BerthError, type FieldError, messageOf } from './model/errors.ts'
import { type Settings, settings } from './model/settings.ts'

/**
 * Reads the text of a settings file. Throws BerthError invalid_settings that names each key and what is allowed;
 * values, which may be secrets, are not repeated.
 */
export const readSettings = (text: string, name: string): Settings => {
  const result = settings.safeParse(parsed(text, name))
  if (result.success) return result.data
  const errors = result.error.issues.flatMap((issue): FieldError[] => {
    if (issue.code !== 'unrecognized_keys')
      return [{ path: issue.path.map(String).join('.'), message: issue.message }]
    return issue.keys.map((key) => ({
      path: [...issue.path, key].map(String).join('.'),
      message: 'this key is not known',
    }))
  })
  const named = errors.map(({ path, message }) => `${path || 'the file'}: ${message}`).join('; ')
  throw new BerthError('invalid_settings', `${name} is not valid. ${named}`, errors)
}

const parsed = (text: string, name: string): unknown => {
  try {
    return parse(text) ?? {}
  } catch (error) {
    throw new BerthError('invalid_settings', `${name} is not valid YAML: ${messageOf(error).split('\n')[0]}`)
  }
}
