import { models } from 'oci-core'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  acceptImage,
  type Clients,
  minute,
  type OciStage,
  prepareOnce,
  refusalOf,
  second,
  setUpOci,
} from './oci-stage.ts'

const notFound = { status: 404, code: 'NotAuthorizedOrNotFound' }

const sshFromAnywhere = {
  direction: models.AddSecurityRuleDetails.Direction.Ingress,
  protocol: '6',
  source: '0.0.0.0/0',
  sourceType: models.AddSecurityRuleDetails.SourceType.CidrBlock,
  tcpOptions: { destinationPortRange: { min: 22, max: 22 } },
}

let stage: OciStage
let clients: Clients
let prepared: Awaited<ReturnType<typeof prepareOnce>>

beforeAll(async () => {
  prepared = await prepareOnce()
})
beforeEach(async () => {
  stage = await setUpOci({ saved: prepared.saved })
  clients = stage.clients()
})
afterEach(() => stage.tearDown())

const launch = async (changes: Partial<models.LaunchInstanceDetails> = {}) => {
  const launchInstanceDetails = { ...prepared.details, ...changes }
  return (await clients.compute.launchInstance({ launchInstanceDetails })).instance
}
const look = async (instanceId: string) => (await clients.compute.getInstance({ instanceId })).instance
const stateAfter = async (ms: number, instanceId: string) => {
  stage.clock.advance(ms)
  return (await look(instanceId)).lifecycleState
}
const terminate = (instanceId: string) => clients.compute.terminateInstance({ instanceId })
const attachments = async (instanceId: string) => {
  const { compartmentId } = stage.cloud
  return (await clients.compute.listVnicAttachments({ compartmentId, instanceId })).items
}
const vnics = async (instanceId: string) => {
  const attached = await attachments(instanceId)
  const found = attached.map(({ vnicId }) => clients.network.getVnic({ vnicId: vnicId ?? '' }))
  return (await Promise.all(found)).map(({ vnic }) => vnic)
}
const preemptible = {
  preemptibleInstanceConfig: { preemptionAction: { type: 'TERMINATE', preserveBootVolume: false } },
}

describe('an instance', () => {
  it('is PROVISIONING, STARTING, RUNNING, TERMINATING, TERMINATED, and after an hour no more', async () => {
    const { id } = await launch()
    expect(await stateAfter(0, id)).toBe('PROVISIONING')
    expect(await stateAfter(30 * second, id)).toBe('STARTING')
    expect(await stateAfter(30 * second, id)).toBe('RUNNING')
    await terminate(id)
    expect(await stateAfter(0, id)).toBe('TERMINATING')
    expect(await stateAfter(minute, id)).toBe('TERMINATED')
    expect(await stateAfter(60 * minute - 1, id)).toBe('TERMINATED')
    stage.clock.advance(1)
    expect(await refusalOf(look(id))).toMatchObject(notFound)
    const { compartmentId } = stage.cloud
    expect((await clients.compute.listInstances({ compartmentId })).items).toEqual([])
  })

  it('of bare metal takes eight minutes to be RUNNING', async () => {
    const { id } = await launch({ shape: 'BM.GPU.H100.8' })
    expect(await stateAfter(8 * minute - 1, id)).toBe('STARTING')
    expect(await stateAfter(1, id)).toBe('RUNNING')
  })

  it('can be terminated twice, but not when it is gone', async () => {
    const { id } = await launch()
    await terminate(id)
    stage.clock.advance(minute / 2)
    await terminate(id)
    expect(await stateAfter(minute / 2, id)).toBe('TERMINATED')
    expect(await refusalOf(terminate(id))).toMatchObject(notFound)
    expect(await refusalOf(terminate('ocid1.instance.oc1..x'))).toMatchObject(notFound)
  })

  it('can be made not to be terminated while it is provisioned', async () => {
    stage.cloud.switches.noTerminationWhileProvisioning = true
    const { id } = await launch()
    expect(await refusalOf(terminate(id))).toMatchObject({ status: 409, code: 'IncorrectState' })
    stage.clock.advance(30 * second)
    await terminate(id)
  })

  it('that is preemptible can lose its host', async () => {
    const { id } = await launch(preemptible)
    stage.clock.advance(minute)
    expect((await look(id)).preemptibleInstanceConfig).toMatchObject({
      preemptionAction: { type: 'TERMINATE' },
    })
    await stage.cloud.preempt(id)
    expect(await stateAfter(0, id)).toBe('TERMINATING')
    expect(await stateAfter(minute, id)).toBe('TERMINATED')
    expect(stage.machines.wiped).toHaveLength(1)
    expect(stage.cloud.ledger()).toMatchObject([{ interrupted: true }])
  })
})

describe('its address', () => {
  it('comes late: no attachment, one without a VNIC, then the VNIC', async () => {
    const { id } = await launch()
    expect(await attachments(id)).toEqual([])
    stage.clock.advance(15 * second)
    expect(await attachments(id)).toMatchObject([{ lifecycleState: 'ATTACHING', vnicId: null }])
    stage.clock.advance(15 * second)
    const [attachment] = await attachments(id)
    expect(attachment).toMatchObject({ lifecycleState: 'ATTACHED', instanceId: id })
    const vnicAttachmentId = attachment?.id ?? ''
    expect((await clients.compute.getVnicAttachment({ vnicAttachmentId })).vnicAttachment).toEqual(attachment)
    expect(await vnics(id)).toMatchObject([
      {
        isPrimary: true,
        publicIp: expect.stringMatching(/^127\./),
        privateIp: expect.stringMatching(/^10\.0\./),
      },
    ])
  })

  it('can come later than the instance is RUNNING', async () => {
    stage.cloud.faults.nextMachine({ vnicDelayMs: 10 * minute })
    const { id } = await launch()
    expect(await stateAfter(minute, id)).toBe('RUNNING')
    expect(await attachments(id)).toEqual([])
    stage.clock.advance(10 * minute)
    expect(await vnics(id)).toHaveLength(1)
  })

  it('is that of the primary VNIC, which need not be the first', async () => {
    stage.cloud.faults.nextMachine({ secondaryVnics: 1 })
    const { id } = await launch()
    stage.clock.advance(minute)
    expect(await vnics(id)).toMatchObject([
      { isPrimary: false, publicIp: null },
      { isPrimary: true, publicIp: expect.any(String) },
    ])
  })

  it.each([
    [
      'was not asked for',
      async () => ({ createVnicDetails: { subnetId: prepared.subnet.id, assignPublicIp: false } }),
    ],
    ['is not given', async () => stage.cloud.faults.nextMachine({ publicIp: false })],
  ])('is none outside where it %s', async (_, prepare) => {
    const { id } = await launch((await prepare()) ?? {})
    stage.clock.advance(minute)
    expect(await vnics(id)).toMatchObject([{ publicIp: null }])
  })

  it('is one that no other machine has', async () => {
    const { id } = await launch()
    const { id: other } = await launch()
    stage.clock.advance(minute)
    const [[one], [two]] = await Promise.all([vnics(id), vnics(other)])
    expect(one?.publicIp).not.toBe(two?.publicIp)
  })
})

describe('its machine', () => {
  it('is on when it is RUNNING: at its address, with its keys, its script and its hardware', async () => {
    const { id } = await launch({
      metadata: {
        ssh_authorized_keys: 'ssh-ed25519 AAAA one\nssh-ed25519 BBBB two\n',
        user_data: Buffer.from('#!/bin/bash\necho hello\n').toString('base64'),
      },
    })
    stage.clock.advance(minute - 1)
    await look(id)
    expect(stage.machines.running()).toEqual([])
    stage.clock.advance(1)
    const [vnic] = await vnics(id)
    expect(stage.machines.running()).toMatchObject([
      {
        username: 'ubuntu',
        authorizedKeys: ['ssh-ed25519 AAAA one', 'ssh-ed25519 BBBB two'],
        userData: '#!/bin/bash\necho hello\n',
        listen: { host: vnic?.publicIp, port: stage.cloud.sshPort },
        hardware: {
          arch: 'x86_64',
          cpus: 30,
          threadsPerCore: 2,
          memoryKib: Math.floor(240 * 2 ** 20 * 0.97),
          gpus: {
            vendor: 'nvidia',
            name: 'NVIDIA A10',
            memoryMib: 23_028,
            count: 1,
            driverVersion: '580.167.08',
          },
        },
      },
    ])
  })

  it.each([
    ['BM.GPU.H100.8', 224, 'NVIDIA H100 80GB HBM3', 81_559, 8],
    ['BM.GPU.H200.8', 224, 'NVIDIA H200', 143_771, 8],
    ['BM.GPU.L40S.4', 224, 'NVIDIA L40S', 46_068, 4],
    ['BM.GPU.A100-v2.8', 256, 'NVIDIA A100-SXM4-80GB', 81_920, 8],
    ['BM.GPU4.8', 128, 'NVIDIA A100-SXM4-40GB', 40_960, 8],
    ['BM.GPU.A10.4', 128, 'NVIDIA A10', 23_028, 4],
  ])('of %s has %i CPUs and its GPUs', async (shape, cpus, name, memoryMib, count) => {
    const { id } = await launch({ shape })
    stage.clock.advance(8 * minute)
    await look(id)
    expect(stage.machines.running()[0]?.hardware).toMatchObject({ cpus, gpus: { name, memoryMib, count } })
  })

  it('with GPUs older than Turing sees them only with proprietary drivers, and none without drivers', async () => {
    const { compartmentId } = stage.cloud
    const gpusWith = async (name: string) => {
      const imageId = await acceptImage(clients.marketplace, compartmentId, name)
      const { id } = await launch({ shape: 'VM.GPU3.1', sourceDetails: { sourceType: 'image', imageId } })
      stage.clock.advance(minute)
      await look(id)
      return stage.machines.running().at(-1)?.hardware.gpus
    }
    expect(await gpusWith('dstack-cuda-0.14')).toBeNull()
    expect(await gpusWith('dstack-0.14')).toBeNull()
    expect(await gpusWith('dstack-cuda-0.10')).toMatchObject({
      name: 'Tesla V100-SXM2-16GB',
      memoryMib: 16_384,
    })
  })

  it('can be made to differ from what was sold', async () => {
    stage.cloud.faults.nextMachine({
      bootMs: second,
      gpuCount: 0,
      hardware: { cpus: 7 },
      sshTrouble: ['hang'],
    })
    const { id } = await launch()
    expect(await stateAfter(second, id)).toBe('RUNNING')
    expect(stage.machines.running()).toMatchObject([
      { hardware: { cpus: 7, gpus: null }, sshTrouble: ['hang'] },
    ])
  })

  it('is wiped when it is given back', async () => {
    const { id } = await launch()
    stage.clock.advance(minute)
    await terminate(id)
    expect(stage.machines.running()).toEqual([])
    expect(stage.machines.wiped).toHaveLength(1)
  })

  it('is wiped when its host fails', async () => {
    stage.cloud.faults.nextMachine({ failure: { afterMs: 2 * minute, code: 'InternalError', message: '' } })
    const { id } = await launch()
    expect(await stateAfter(minute, id)).toBe('RUNNING')
    expect(await stateAfter(minute, id)).toBe('TERMINATED')
    expect(stage.machines.running()).toEqual([])
  })

  it('comes back at its address when the cloud is started again', async () => {
    const { id } = await launch()
    stage.clock.advance(minute)
    const before = await vnics(id)
    const [{ listen } = {}] = stage.machines.running()
    await stage.restart()
    clients = stage.clients()
    expect(await vnics(id)).toEqual(before)
    expect(stage.machines.running()).toMatchObject([{ listen }])
  })
})

describe('nobody outside gets to a machine', () => {
  it('whose network has no route to the internet', async () => {
    const rtId = prepared.vcn.defaultRouteTableId ?? ''
    await clients.network.updateRouteTable({ rtId, updateRouteTableDetails: { routeRules: [] } })
    const { id } = await launch()
    stage.clock.advance(minute)
    await look(id)
    expect(stage.machines.running()[0]).not.toHaveProperty('listen')
  })

  it('whose rules let no SSH in, until a group does', async () => {
    const { compartmentId } = stage.cloud
    const { subnet } = await clients.network.createSubnet({
      createSubnetDetails: {
        compartmentId,
        vcnId: prepared.vcn.id,
        cidrBlock: '10.0.1.0/24',
        securityListIds: [],
      },
    })
    const { networkSecurityGroup: group } = await clients.network.createNetworkSecurityGroup({
      createNetworkSecurityGroupDetails: { compartmentId, vcnId: prepared.vcn.id },
    })
    const launchThere = async () => {
      const { id } = await launch({ createVnicDetails: { subnetId: subnet.id, nsgIds: [group.id] } })
      stage.clock.advance(minute)
      await look(id)
      return stage.machines.running().at(-1)
    }
    expect(await launchThere()).not.toHaveProperty('listen')
    await clients.network.addNetworkSecurityGroupSecurityRules({
      networkSecurityGroupId: group.id,
      addNetworkSecurityGroupSecurityRulesDetails: { securityRules: [sshFromAnywhere] },
    })
    expect(await launchThere()).toMatchObject({ listen: { port: stage.cloud.sshPort } })
  })
})

describe('money', () => {
  const charged = () => stage.cloud.ledger()[0]?.chargedCents(stage.clock.now())

  it('is taken by the second from RUNNING to TERMINATED, for an hour of bare metal at least', async () => {
    const { id } = await launch({ shape: 'BM.GPU.H100.8' })
    stage.clock.advance(8 * minute - 1)
    expect(charged()).toBe(0)
    stage.clock.advance(1)
    expect(charged()).toBe(8000)
    stage.clock.advance(90 * minute)
    expect(charged()).toBe(12_000)
    stage.clock.advance(1)
    expect(charged()).toBe(12_003)
    await terminate(id)
    stage.clock.advance(600 * minute)
    expect(charged()).toBe(Math.ceil((8000 * (91 * 60 + 1)) / 3600))
  })

  it('is taken for a minute at least of a VM', async () => {
    await launch({ shape: 'VM.GPU.A10.1' })
    stage.clock.advance(minute)
    expect(charged()).toBe(Math.ceil(200 / 60))
  })

  it('is half for preemptible machines', async () => {
    await launch(preemptible)
    stage.clock.advance(61 * minute)
    expect(charged()).toBe(100)
    expect(stage.cloud.ledger()).toMatchObject([{ preemptible: true, pricePerHourMicros: 1_000_000 }])
  })

  it('is none for one that never ran', async () => {
    const { id } = await launch()
    stage.clock.advance(30 * second)
    await terminate(id)
    stage.clock.advance(60 * minute)
    expect(charged()).toBe(0)
    expect(stage.cloud.ledger()).toMatchObject([{ startedAt: null, displayName: 'machine' }])
  })

  it('can be looked at by people without a key', async () => {
    await launch()
    stage.clock.advance(61 * minute)
    const ledger = await (await fetch(new URL('/_sandbox/ledger', stage.cloud.endpoint))).json()
    expect(ledger).toMatchObject({ instances: [{ shape: 'VM.GPU.A10.1', chargedCents: 200 }] })
  })
})
