import { writeFileSync } from 'node:fs'
import { pages } from './pages.ts'

/** `npm run reference`: writes what docs/ says of the API and of the settings anew. */
for (const { file, text } of pages()) writeFileSync(file, text)
