import { BerthError, type FieldError } from './model/errors.ts'
import { type Settings, settings } from './model/settings.ts'

/**
 * Reads the text of a settings file. Throws BerthError invalid_settings that names each key and what is allowed;
 * values, which may be secrets, are not repeated.
 */
export const readSettings = async (text: string, name: string): Promise<Settings> => {
  const result = settings.safeParse(await parsed(text, name))
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

/** JSON is YAML too, and settings that are written as such need no parser of YAML to be loaded. */
const parsed = async (text: string, name: string): Promise<unknown> => {
  try {
    return JSON.parse(text)
  } catch {
    return parseYaml(text, name)
  }
}

/** The parser's own words repeat what they are about, which may be a secret: only the place is told. */
const parseYaml = async (text: string, name: string): Promise<unknown> => {
  const { parseDocument } = await import('yaml')
  const advice = 'put values that begin with *, & or ! into quotes, and indent each part under its key'
  const document = parseDocument(text)
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) {
    const line = problem.linePos?.[0].line ?? '?'
    throw new BerthError(
      'invalid_settings',
      `${name} is not valid YAML (${problem.code}, line ${line}): ${advice}`,
    )
  }
  try {
    return document.toJS() ?? {}
  } catch {
    throw new BerthError('invalid_settings', `${name} is not valid YAML: ${advice}`)
  }
}
