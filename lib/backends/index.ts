import type { Clock } from '../model/clock.ts'
import type { BackendType } from '../model/offer.ts'
import type { BackendSettings } from '../model/settings.ts'
import type { Backend, CataloguePort } from './backend.ts'
import { createHotAisle } from './hotaisle/hot-aisle.ts'
import { createOci } from './oci/oci.ts'

type SettingsOf = { [Type in BackendType]: Extract<BackendSettings, { type: Type }> }

/** What every backend is handed, whatever its cloud. */
export type Surroundings = {
  sshPublicKey: string
  /** The bootstrap script, for clouds that run one at the first boot. */
  userData: string
  /** Where the published lists are kept that `refresh-catalog` read. */
  catalogues: CataloguePort
  clock: Clock
  fetch?: typeof fetch | undefined
}

type Factories = {
  [Type in BackendType]: (options: Surroundings & { settings: SettingsOf[Type] }) => Backend
}

/** One factory for each type of backend. A cloud is its folder, its line here and its schema in the settings. */
const factories: Factories = { hotaisle: createHotAisle, oci: createOci }

/** The backends that the settings list. */
export const createBackends = (settings: BackendSettings[], surroundings: Surroundings): Backend[] =>
  settings.map((each) => createBackend(each.type, each, surroundings))

/** A backend of the type that its settings name. Opens no connection. */
const createBackend = <Type extends BackendType>(
  type: Type,
  settings: SettingsOf[Type],
  surroundings: Surroundings,
): Backend => {
  const create: Factories[Type] = factories[type]
  return create({ ...surroundings, settings })
}
