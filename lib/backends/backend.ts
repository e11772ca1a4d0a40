import type { KeptCatalogue } from '../model/catalogue.ts'
import type { Intent } from '../model/intent.ts'
import type { BackendType, Offer, OfferError } from '../model/offer.ts'
import type { Requirements } from '../model/requirements.ts'

/**
 * What Berth needs of a cloud. One folder implements it, and `test/backends/conformance.ts` holds each to it.
 *
 * No call throws for what a cloud may answer: outcomes are values, so that the caller has to decide. What is not
 * known is said to be not known; a guess here would be paid for.
 */
export interface Backend extends Catalogue, Launcher, Machines {
  readonly type: BackendType
  /** For clouds whose shapes and prices come from lists that are published beside the account. */
  readonly published?: PublishedCatalogue
}

export type PublishedCatalogue = {
  /** Ships with the package: what there is before the lists were first read. */
  shipped: KeptCatalogue
  /** Reads the published lists anew. `left` names the rows that are not offered, with reasons. Never throws. */
  fetch(): Promise<
    { outcome: 'read'; catalogue: KeptCatalogue; left: string[] } | { outcome: 'failed'; message: string }
  >
}

/** Where the lists are kept that were last read. */
export type CataloguePort = { get(backend: BackendType): Promise<KeptCatalogue | undefined> }

interface Catalogue {
  /** Whether the credentials work and may create and delete. Never throws. */
  check(): Promise<CredentialsCheck>
  /**
   * Every row that can be rented, each judged alone; what went wrong stands beside them. Never throws.
   * A cloud where the size of the boot disk is a choice offers the smallest one that is `wanted`.
   * The error code `no_answer` says that the cloud did not answer, so that asking again later may help.
   */
  offers(wanted: Pick<Requirements, 'diskGb'>): Promise<{ offers: Offer[]; errors: OfferError[] }>
}

export type CredentialsCheck =
  | { ok: true }
  /** `bad` is proved; `unknown` means that the cloud did not answer. `message` says what to do. */
  | { ok: false; state: 'bad' | 'unknown'; message: string }

interface Launcher {
  /** Name of the lock that serialises launches of such an offer, where the cloud can't tell two of them apart. */
  launchLock(offer: Offer): string | undefined
  /**
   * What must be written down before `launch`: the machines that exist already, where the cloud has no retry token.
   * Costs nothing. `failed` says why they could not be listed in full: then nothing may be launched.
   */
  prepare(offer: Offer): Promise<{ existing?: string[] } | ({ failed: string } & Patience)>
  /** The one paid call. Called only with an intent that is stored. */
  launch(rental: Rental): Promise<LaunchOutcome>
  /** What came of an intent whose answer was lost. Costs nothing. */
  find(rental: Rental): Promise<FindOutcome>
}

/** An intent with the place that it is meant for. */
export type Rental = {
  intent: Intent
  region: string
  zone?: string | undefined
  instanceType: string
}

export type LaunchedMachine = {
  cloudId: string
  /** Names this rental where `cloudId` names a slot that may come back for another. */
  rentalId?: string | undefined
}

/**
 * How long the cloud wants to be left in peace, in milliseconds, where it said so. Whoever asks sooner than that is
 * answered from here, and nothing is sent.
 */
type Patience = { retryAfterMs?: number | undefined }

export type LaunchOutcome =
  /** `at`: when the call that rented was sent, in milliseconds since 1970, where money runs from there. */
  | { outcome: 'launched'; machine: LaunchedMachine; at?: number }
  /** Nothing exists, nothing is charged. */
  | ({ outcome: 'rejected'; code: RejectionCode; message: string } & Patience)
  /** Something may exist: ask `find`. */
  | ({ outcome: 'unknown'; message: string } & Patience)

/**
 * Why nothing was launched. All but the last three lead to the next offer.
 * `throttled`: nothing was judged; ask the same again after a while.
 */
export type RejectionCode =
  | 'no_capacity'
  | 'no_quota'
  | 'no_balance'
  | 'gone'
  | 'invalid_settings'
  | 'bad_credentials'
  | 'throttled'

export type FindOutcome =
  | { outcome: 'found'; machine: LaunchedMachine }
  /** Proved: nothing of this intent exists, and nothing will. `message` where the cloud says why. */
  | { outcome: 'absent'; message?: string }
  /** Not to be told yet, or (as the message says) only by a person. */
  | ({ outcome: 'unclear'; message: string } & Patience)

export interface Machines {
  /** Where a machine stands. Never throws. */
  state(ref: MachineRef): Promise<MachineState>
  /** Installs the system anew on a machine that failed. `retry`: not done, or not known; ask again later. */
  repair(
    ref: MachineRef,
  ): Promise<{ outcome: 'started' | 'not_possible' | 'retry'; message: string } & Patience>
  /** Gives a machine back. Asking twice is harmless. */
  release(ref: MachineRef, options: { force: boolean }): Promise<ReleaseOutcome>
  /** What the cloud itself says of the time that it charges for; nothing where it does not. Never throws. */
  billed(ref: MachineRef): Promise<Billed>
  /** What the account is charged by the hour at this moment, in cents; undefined where the cloud does not say. */
  hourlyRate(): Promise<number | undefined>
  /** Every machine of the account, whoever made it. `complete: false` proves nothing about what is missing. */
  owned(): Promise<OwnedListing>
  /** How long a machine of this type may take from launch to a healthy agent, in milliseconds. */
  bootDeadlineMs(instanceType: string): number
}

export type MachineRef = {
  region: string
  instanceType: string
  cloudId: string
  rentalId?: string | undefined
  /** The mark of the intent that rented it. */
  mark?: string | undefined
  /** When it was rented, in milliseconds since 1970: what is so new may not be shown yet. */
  rentedAt?: number | undefined
}

export type MachineState =
  /** `progress` in words for people: "installing_os". */
  | { state: 'starting'; progress: string }
  | { state: 'running'; address: { hostname: string; port: number; username: string } }
  /** It will not come up by itself. */
  | { state: 'failed'; message: string }
  /** Being given back, by whoever. */
  | { state: 'stopping' }
  /** The cloud shows, with credentials that work, that this rental exists no more. */
  | {
      state: 'gone'
      interrupted: boolean
      /** The launch was accepted and failed later, as these words say: nothing ever ran, nothing is charged. */
      neverRan?: string
    }
  | ({ state: 'unknown'; message: string } & Patience)

export type ReleaseOutcome =
  /** Asked; `state` will show `gone`. `at`: when it was sent, where money runs to there. */
  | { outcome: 'accepted'; at?: number }
  | { outcome: 'gone' }
  /** Refused inside the prepaid minimum. */
  | { outcome: 'too_early'; message: string }
  /** Refused for now, or not known: ask again later. `at` where it may have been done all the same. */
  | ({ outcome: 'retry'; message: string; at?: number } & Patience)

/** Milliseconds since 1970. `from: null` is a machine that was never charged, and never will be. */
export type Billed = { from?: number | null; until?: number }

export type OwnedListing = { complete: boolean; machines: OwnedMachine[]; message?: string }

export type OwnedMachine = MachineRef & {
  createdAt?: number | undefined
  description?: string | undefined
  /** Nothing on it says whose it is, and a machine of ours can stand like that before it has its mark. */
  nameless?: boolean
}
