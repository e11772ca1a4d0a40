import { lifecycleOf } from './lifecycle.ts'
import { regionOfInstance } from './regions.ts'
import { shapes } from './shapes.ts'
import type { SimulatedInstance, SimulatedVnic } from './state.ts'

/** What the simulated cloud sends of an instance, as it stands on the wire. */

export const timeBody = (time: number): string => new Date(time).toISOString()

export const instanceBody = (instance: SimulatedInstance, now: number) => ({
  id: instance.id,
  availabilityDomain: instance.domainName,
  compartmentId: instance.compartmentId,
  displayName: instance.displayName,
  faultDomain: 'FAULT-DOMAIN-1',
  freeformTags: instance.freeformTags,
  definedTags: {},
  systemTags: {},
  imageId: instance.imageId,
  instanceOptions: { areLegacyImdsEndpointsDisabled: instance.legacyImdsDisabled },
  launchMode: 'PARAVIRTUALIZED',
  lifecycleState: lifecycleOf(instance, now),
  metadata: instance.metadata,
  extendedMetadata: {},
  preemptibleInstanceConfig: instance.preemptible
    ? { preemptionAction: { type: 'TERMINATE', preserveBootVolume: false } }
    : null,
  region: regionOfInstance(instance.region),
  shape: instance.shape,
  shapeConfig: {
    ocpus: shapes[instance.shape]?.ocpus,
    memoryInGBs: shapes[instance.shape]?.memoryGb,
    gpus: shapes[instance.shape]?.gpus?.count ?? 0,
  },
  sourceDetails: {
    sourceType: 'image',
    imageId: instance.imageId,
    bootVolumeSizeInGBs: instance.bootVolumeGb,
  },
  timeCreated: timeBody(instance.createdAt),
})

export const attachmentBody = (instance: SimulatedInstance, vnic: SimulatedVnic, state: string) => ({
  id: vnic.attachmentId,
  availabilityDomain: instance.domainName,
  compartmentId: instance.compartmentId,
  displayName: null,
  instanceId: instance.id,
  lifecycleState: state,
  nicIndex: 0,
  subnetId: instance.subnetId,
  timeCreated: timeBody(vnic.attachingAt),
  vlanTag: null,
  vnicId: state === 'ATTACHING' ? null : vnic.id,
})

export const vnicBody = (instance: SimulatedInstance, vnic: SimulatedVnic) => ({
  id: vnic.id,
  availabilityDomain: instance.domainName,
  compartmentId: instance.compartmentId,
  displayName: instance.displayName,
  freeformTags: {},
  definedTags: {},
  hostnameLabel: null,
  isPrimary: vnic.isPrimary,
  lifecycleState: 'AVAILABLE',
  macAddress: '02:00:17:00:00:01',
  nsgIds: instance.nsgIds,
  privateIp: vnic.privateIp,
  publicIp: vnic.publicIp,
  skipSourceDestCheck: false,
  subnetId: instance.subnetId,
  timeCreated: timeBody(vnic.attachedAt),
})
