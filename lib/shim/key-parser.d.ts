/** The part of ssh2 behind its `utils.parseKey`; @types/ssh2 has types for the index alone. */
declare module 'ssh2/lib/protocol/keyParser.js' {
  import type { utils } from 'ssh2'

  const keyParser: { parseKey: typeof utils.parseKey }
  export default keyParser
}
