import * as z from 'zod'

/** A number in the text of an option; any other text is for the schema to refuse. */
export const numberIn = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((text) => (/^\d+(\.\d+)?$/.test(String(text)) ? Number(text) : text), schema)
