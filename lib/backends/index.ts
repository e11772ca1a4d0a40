import type { Clock } from '../model/clock.ts'
import type { BackendType } from '../model/offer.ts'
import type { BackendSettings } from '../model/settings.ts'
import type { Backend, CataloguePort } from './backend.ts'

type SettingsOf = { [Type in BackendType]: Extract<BackendSettings, { type: Type }> }

/** What every backend is handed, whatever its cloud. */
export type Surroundings = {
  sshPublicKey: string
  /** The bootstrap script, for clouds that run one at the first boot; loaded where something is launched. */
  userData: () => Promise<string>
  /** Where the published lists are kept that `refresh-catalog` read. */
  catalogues: CataloguePort
  clock: Clock
  fetch?: typeof fetch | undefined
}

type Factories = {
  [Type in BackendType]: () => Promise<(options: Surroundings & { settings: SettingsOf[Type] }) => Backend>
}

/**
 * One factory for each type of backend. A cloud is its folder, its line here and its schema in the settings. Its code is
 * loaded where the settings list it.
 */
const factories: Factories = {
  hotaisle: async () => (await import('./hotaisle/hot-aisle.ts')).createHotAisle,
  oci: async () => (await import('./oci/oci.ts')).createOci,
}

/** Loads the code of the backends that the settings list; what comes back makes them, and opens no connection. */
export const loadBackends = async (
  settings: BackendSettings[],
): Promise<(surroundings: Surroundings) => Backend[]> => {
  const makers = await Promise.all(settings.map((each) => loadBackend(each.type, each)))
  return (surroundings) => makers.map((make) => make(surroundings))
}

const loadBackend = async <Type extends BackendType>(type: Type, settings: SettingsOf[Type]) => {
  const load: Factories[Type] = factories[type]
  const create = await load()
  return (surroundings: Surroundings) => create({ ...surroundings, settings })
}
