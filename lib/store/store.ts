import type { KeptCatalogue } from '../model/catalogue.ts'
import type { Fleet } from '../model/fleet.ts'
import type { Instance, InstanceEvent } from '../model/instance.ts'
import type { Sightings } from '../model/sightings.ts'
import type { Status } from '../model/status.ts'

/** The state of Berth. `dynamo-store.ts` is the one for DynamoDB; each is held to `test/store/conformance.ts`. */
export interface Store extends Instances, Locks, ApiKeys {
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

/** What is written with an instance, in one transaction: all of it or nothing. */
export type Also = { once?: Once | undefined; fleet?: FleetChange | undefined }

/** `create` was given an id that has a record. */
export class InstanceExists extends Error {
  constructor(id: string) {
    super(`instance ${id} exists already`)
    this.name = 'InstanceExists'
  }
}

/** An `Idempotency-Key` with what it was used for: the scope is one API key, the fingerprint one request body. */
export type Once = { scope: string; key: string; fingerprint: string }

export interface Instances {
  /**
   * Writes a new instance, and what else is to be written, in one transaction. When the key of `once` was used before,
   * nothing is written and the instance of the first use comes back, with the fingerprint it was made for; nor is
   * anything when the fleet has been changed by others. Throws InstanceExists.
   */
  create(
    instance: Instance,
    also?: Also,
  ): Promise<{ used?: { instance: Instance; fingerprint: string }; isFleetStale?: true }>
  /** What a key was used for, if it was. */
  used(once: Pick<Once, 'scope' | 'key'>): Promise<{ instance: Instance; fingerprint: string } | undefined>
  /** The record as it is now (a strongly consistent read). */
  get(id: string): Promise<Instance | undefined>
  /** Events older than those on this copy of the record, oldest first, whatever was written since it was read. */
  olderEvents(instance: Pick<Instance, 'id' | 'version'>): Promise<InstanceEvent[]>
  /**
   * Writes `next` if the record still has the version of `previous`, and returns it with its new version; undefined
   * when somebody else has written since, the instance or what is to be written with it.
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
}

export interface ApiKeys {
  /** False, and nothing is written, while another key has this name. */
  addApiKey(key: ApiKey): Promise<boolean>
  /** As it is now (a strongly consistent read), whether or not it has expired. */
  findApiKey(hash: string): Promise<ApiKey | undefined>
  /** All, by name, with those that have expired. */
  listApiKeys(): Promise<ApiKey[]>
  /** Removes the key of that name, so that it is none any more and the name is free; undefined where there is none. */
  removeApiKey(name: string): Promise<ApiKey | undefined>
}
