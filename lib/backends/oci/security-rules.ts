import { type Answer, after } from './answer.ts'
import type { Api, Clients } from './api.ts'

/** Most rules that one call takes. */
const rulesAtOnce = 25

/** Members of the group talk to each other, and SSH comes from anywhere. Rules that somebody added stay. */
export const ensureRules = async (api: Api, region: string, groupId: string): Promise<Answer<void>> => {
  const there = await api.list('security rules', region, ({ network }, page) =>
    network.listNetworkSecurityGroupSecurityRules({
      networkSecurityGroupId: groupId,
      ...(page !== undefined && { page }),
    }),
  )
  return after(there, (rules) =>
    api.ask('security rules', region, async ({ network, models }) => {
      const known = new Set(rules.map(keyOf))
      const missing = rulesFor(groupId, models.AddSecurityRuleDetails).filter(
        (rule) => !known.has(keyOf(rule)),
      )
      for (let at = 0; at < missing.length; at += rulesAtOnce) {
        await network.addNetworkSecurityGroupSecurityRules({
          networkSecurityGroupId: groupId,
          addNetworkSecurityGroupSecurityRulesDetails: { securityRules: missing.slice(at, at + rulesAtOnce) },
        })
      }
    }),
  )
}

const rulesFor = (
  groupId: string,
  { Direction, SourceType, DestinationType }: Clients['models']['AddSecurityRuleDetails'],
) => [
  {
    direction: Direction.Ingress,
    protocol: 'all',
    source: groupId,
    sourceType: SourceType.NetworkSecurityGroup,
  },
  {
    direction: Direction.Egress,
    protocol: 'all',
    destination: groupId,
    destinationType: DestinationType.NetworkSecurityGroup,
  },
  {
    direction: Direction.Ingress,
    // TCP.
    protocol: '6',
    source: '0.0.0.0/0',
    sourceType: SourceType.CidrBlock,
    tcpOptions: { destinationPortRange: { min: 22, max: 22 } },
  },
]

type Rule = {
  direction: string
  protocol: string
  source?: string
  destination?: string
  tcpOptions?: { destinationPortRange?: { min: number; max: number } | null } | null
}

/** The same for rules that let the same through. */
const keyOf = ({ direction, protocol, source, destination, tcpOptions }: Rule): string => {
  const ports = tcpOptions?.destinationPortRange
  return [
    direction,
    protocol,
    source ?? '',
    destination ?? '',
    ports ? `${ports.min}-${ports.max}` : '',
  ].join(' ')
}
