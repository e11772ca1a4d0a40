import { GetParametersCommand, SSMClient } from '@aws-sdk/client-ssm'

/** Reads SecureStrings of SSM in one call, by name. Throws an Error that names those which are not there. */
export const readParameters = async (Names: string[]): Promise<Map<string, string>> => {
  const client = new SSMClient({})
  try {
    const { Parameters = [] } = await client.send(new GetParametersCommand({ Names, WithDecryption: true }))
    const values = new Map(Parameters.map(({ Name = '', Value = '' }) => [Name, Value]))
    const missing = Names.filter((name) => !values.has(name))
    if (missing.length > 0) {
      throw new Error(`SSM has no parameter ${missing.join(' and no ')}; npm run deploy makes them`)
    }
    return values
  } finally {
    client.destroy()
  }
}
