import { registerHooks } from 'node:module'
import { defects } from './defects.ts'

/** Loaded with `node --import` and BERTH_DEFECT: every module that is loaded after it has that defect in it. */
const name = process.env.BERTH_DEFECT ?? ''
const defect = defects[name]
if (!defect) throw new Error(`There is no defect "${name}"; there are ${Object.keys(defects).join(', ')}`)

registerHooks({
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context)
    if (!url.endsWith(`/${defect.file}`)) return loaded
    const source = defect.edits.reduce(edit, String(loaded.source))
    return { ...loaded, source }
  },
})

/** Throws where the source has moved on, so that no defect is forgotten unseen. */
const edit = (source: string, [find, replace]: [string, string]): string => {
  if (source.split(find).length !== 2) throw new Error(`${name}: not once in ${defect.file}: ${find}`)
  return source.replace(find, () => replace)
}
