import type { KeptCatalogue } from '../model/catalogue.ts'
import type { CostLine } from '../model/cost.ts'
import type { Fleet } from '../model/fleet.ts'
import type { Instance, InstanceEvent } from '../model/instance.ts'
import type { Limits } from '../model/limits.ts'
import type { Sightings } from '../model/sightings.ts'
import type { Spend } from '../model/spend.ts'
import type { Status } from '../model/status.ts'

/** The state of Berth. `dynamo-store.ts` is the one for DynamoDB; each is held to `test/store/conformance.ts`. */
export interface Store extends Instances, Spending, Locks, ApiKeys {
  /** Names this deployment on the machines that it rents; made once, with the table. */
  owner(): Promise<string>
  catalogues: Catalogues
  sightings: SightingsPort
  fleets: FleetsPort
}

/** Per backend, what its cloud's published lists last said. */
export interface Catalogues {
  get(backend: string): Promise<KeptCatalogue | undefined>
  put(backend: string, catalogue: KeptCatalogue): Promise<void>
}

/** Per backend, the machines that `reconcile` saw and could not explain. */
export interface SightingsPort {
  get(backend: string): Promise<Sightings | undefined>
  /** Replaces what was read; false, and nothing is written, when somebody else has written since. */
  put(backend: string, before: Sightings | undefined, machines: Sightings['machines']): Promise<boolean>
}

/** Fleets by their names. Whatever is decided about one is written on the version that was read. */
export interface FleetsPort {
  /** As it is now (a strongly consistent read). */
  get(name: string): Promise<Fleet | undefined>
  /** All, by name, as they are now. */
  list(): Promise<Fleet[]>
  /**
   * Writes `next` in the place of what was read, or where there was none, and returns it with its version; undefined,
   * and nothing is written, when somebody else has written since.
   */
  put(previous: Fleet | undefined, next: Fleet): Promise<Fleet | undefined>
  /** Removes the record; false when somebody else has written since. */
  remove(fleet: Fleet): Promise<boolean>
}

/** A change of a fleet on the version of `previous`. */
export type FleetChange = { previous: Fleet; next: Fleet }

/** `create` was given an id that has a record. */
export class InstanceExists extends Error {
  constructor(id: string) {
    super(`instance ${id} exists already`)
    this.name = 'InstanceExists'
  }
}

/** An `Idempotency-Key` with what it was used for: the scope is one API key, the fingerprint one request body. */
export type Once = { scope: string; key: string; fingerprint: string }

/** The record of what is committed, as it was read and as it is to be. */
export type SpendChange = { before: Spend | undefined; next: Omit<Spend, 'version'> }

/** What is written with an instance in one transaction: all of it, or nothing. */
export type Also = {
  once?: Once | undefined
  fleet?: FleetChange | undefined
  spend?: SpendChange | undefined
  /** What the ledger keeps of an instance that has ended. */
  costs?: CostLine[] | undefined
}

export interface Spending {
  /** What is committed (a strongly consistent read); undefined where no limit was ever set. */
  spend(): Promise<Spend | undefined>
  /** Replaces what was read; false, and nothing is written, when somebody else has written since. */
  putSpend(change: SpendChange): Promise<boolean>
  /** What ended instances cost in a month, `2026-12`. */
  costs(month: string): Promise<CostLine[]>
}

export interface Instances {
  /**
   * Writes a new instance, and what is given `also`. When the key of `once` was used before, nothing is written and the
   * instance of the first use comes back, with the fingerprint it was made for. Nothing is written either when the fleet
   * (`isFleetStale`) or the spend record (`spendChanged`) has been changed by others. Throws InstanceExists.
   */
  create(
    instance: Instance,
    also?: Also,
  ): Promise<{
    used?: { instance: Instance; fingerprint: string }
    isFleetStale?: true
    spendChanged?: boolean
  }>
  /** What a key was used for, if it was. */
  used(once: Pick<Once, 'scope' | 'key'>): Promise<{ instance: Instance; fingerprint: string } | undefined>
  /** The record as it is now (a strongly consistent read). */
  get(id: string): Promise<Instance | undefined>
  /** Events older than those on this copy of the record, oldest first, whatever was written since it was read. */
  olderEvents(instance: Pick<Instance, 'id' | 'version'>): Promise<InstanceEvent[]>
  /**
   * Writes `next` if the record still has the version of `previous`, and returns it with its new version; undefined
   * when somebody else has written that, or anything of `also`, since. All or nothing is written.
   */
  update(previous: Instance, next: Instance, also?: Also): Promise<Instance | undefined>
  /** Newest first; without a status, those that are not terminated. `cursor` goes on where a page ended. */
  list(page: {
    status?: Status
    limit: number
    cursor?: string
  }): Promise<{ instances: Instance[]; cursor?: string }>
  /** Every instance that has a reservation and is reserved until `since` or later, by that time. */
  reserved(page: {
    since: number
    limit: number
    cursor?: string
  }): Promise<{ instances: Instance[]; cursor?: string }>
  /** Instances whose sweep time has come, in no order, at most `limit` of each of the 16 partitions. */
  due(now: number, limit: number): Promise<Instance[]>
}

export interface Locks {
  /** Takes or prolongs a lock; false while another owner's runs. */
  takeLock(name: string, owner: string, times: { now: number; until: number }): Promise<boolean>
  /** Gives it back; nothing happens when it is not (or no longer) the owner's. */
  freeLock(name: string, owner: string): Promise<void>
}

/** An API key as it is kept: the hash, never the key. Its name is whom claims and Idempotency-Keys belong to. */
export type ApiKey = {
  hash: string
  name: string
  role: 'operator' | 'viewer'
  createdAt: number
  /** From then on it is no key any more; without it, never. */
  expiresAt?: number | undefined
  /** What may be spent with it. */
  limits?: Limits | undefined
}

export interface ApiKeys {
  /** False, and nothing is written, while another key has this name. */
  addApiKey(key: ApiKey): Promise<boolean>
  /** Writes the key in the place of itself; false, and nothing is written, when it is none any more. */
  changeApiKey(key: ApiKey): Promise<boolean>
  /** As it is now (a strongly consistent read), whether or not it has expired. */
  findApiKey(hash: string): Promise<ApiKey | undefined>
  /** What may be spent with the key of that name; also with one that was removed, until another has its name. */
  keyLimits(name: string): Promise<Limits | undefined>
  /** All, by name, with those that have expired. */
  listApiKeys(): Promise<ApiKey[]>
  /**
   * Removes the key of that name, so that it is none any more and the name is free; undefined where there is none. Its
   * limits stay, for what was asked for with it.
   */
  removeApiKey(name: string): Promise<ApiKey | undefined>
}
