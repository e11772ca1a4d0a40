/** What every start is compared with: a function that does nothing. */
export const handler = async () => ({ statusCode: 200 })
