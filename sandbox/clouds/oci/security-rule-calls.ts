import * as z from 'zod'
import type { Clock } from '../../../lib/model/clock.ts'
import { bodyOf, type Call, fits, type Handler, pageOf } from './call.ts'
import type { Network } from './network.ts'
import type { Operation } from './operations.ts'
import type { Places } from './places.ts'
import { invalid, limitExceeded } from './refusal.ts'
import type { Switches } from './switches.ts'
import { timeBody } from './wire.ts'

/** The rules of network security groups: at most 25 in a call, and 120 in a group. */
export const createSecurityRuleCalls = (parts: {
  clock: Clock
  places: Places
  network: Network
  switches: Switches
}) => {
  const { clock, places, network, switches } = parts
  const groupOf = (call: Call) =>
    network.find(call, 'networkSecurityGroup', call.names.networkSecurityGroupId ?? '')

  return {
    listNetworkSecurityGroupSecurityRules: (call) => {
      const rows = groupOf(call).securityRules.filter((rule) =>
        fits(call, 'direction', String(rule.direction)),
      )
      return pageOf(call, rows, switches)
    },

    addNetworkSecurityGroupSecurityRules: (call) => {
      const group = groupOf(call)
      const { securityRules } = bodyOf(call, addedRules)
      if (group.securityRules.length + securityRules.length > 120) throw limitExceeded('security-rules-count')
      for (const rule of securityRules) {
        const peers = [
          [rule.sourceType, rule.source],
          [rule.destinationType, rule.destination],
        ]
        for (const [type, peer] of peers) {
          if (type === 'NETWORK_SECURITY_GROUP') network.find(call, 'networkSecurityGroup', peer ?? '')
        }
      }
      const added = securityRules.map((rule) => ({
        // Rules have short ids of their own, not OCIDs.
        id: places.ocid('rule', call.region).slice(-6).toUpperCase(),
        isValid: true,
        timeCreated: timeBody(clock.now()),
        ...z.record(z.string(), z.json()).parse(JSON.parse(JSON.stringify(rule))),
      }))
      group.securityRules.push(...added)
      return { body: { securityRules: added } }
    },

    removeNetworkSecurityGroupSecurityRules: (call) => {
      const group = groupOf(call)
      const { securityRuleIds } = bodyOf(call, removedRules)
      const known = group.securityRules.map(({ id }) => id)
      if (!securityRuleIds.every((id) => known.includes(id))) throw invalid('securityRuleIds: no such rule')
      group.securityRules = group.securityRules.filter(({ id }) => !securityRuleIds.includes(String(id)))
      return { status: 204 }
    },
  } satisfies Partial<Record<Operation, Handler>>
}

const peerType = z.enum(['CIDR_BLOCK', 'SERVICE_CIDR_BLOCK', 'NETWORK_SECURITY_GROUP'])

const ports = z.looseObject({
  destinationPortRange: z.object({ min: z.int(), max: z.int() }).optional(),
})

const addedRules = z.object({
  securityRules: z
    .array(
      z
        .object({
          description: z.string().max(255).optional(),
          direction: z.enum(['INGRESS', 'EGRESS']),
          protocol: z.string().regex(/^(all|\d+)$/),
          isStateless: z.boolean().default(false),
          source: z.string().optional(),
          sourceType: peerType.optional(),
          destination: z.string().optional(),
          destinationType: peerType.optional(),
          tcpOptions: ports.optional(),
          udpOptions: ports.optional(),
          icmpOptions: z.looseObject({}).optional(),
        })
        .refine(
          (rule) =>
            rule.direction === 'INGRESS'
              ? rule.source !== undefined && rule.sourceType !== undefined
              : rule.destination !== undefined && rule.destinationType !== undefined,
          'a rule needs the source (INGRESS) or the destination (EGRESS), with its type',
        ),
    )
    .min(1)
    .max(25),
})

const removedRules = z.object({ securityRuleIds: z.array(z.string()).min(1).max(25) })
