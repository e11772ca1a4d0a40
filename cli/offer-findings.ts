import type { ShownError } from './answers.ts'
import type { Finding } from './doctor.ts'

type Offered = { backend: string; region: string; availability: string; instanceId?: string | undefined }

/** What the offers of the clouds, and what is said beside them, tell of credentials, quotas and regions. */
export const offerFindings = (offers: Offered[], errors: ShownError[]): Finding[] => {
  const clouds = offers.filter(({ instanceId }) => instanceId === undefined)
  const backends = [...new Set([...clouds, ...errors].map(({ backend }) => backend))]
  if (backends.length === 0) {
    const mend = 'list a backend with credentials in berth.yml (docs/settings.md)'
    return [{ what: 'Offers', state: 'wrong', found: 'no backend offers anything, and none says why', mend }]
  }
  return backends.flatMap((backend) => [
    ...offered(
      backend,
      clouds.filter((each) => each.backend === backend),
    ),
    ...errors.filter((each) => each.backend === backend).map((each) => explained(each, clouds)),
  ])
}

const offered = (backend: string, offers: Offered[]): Finding[] => {
  if (offers.length === 0) return []
  const regions = [...new Set(offers.map(({ region }) => region))]
  const count = `${offers.length} ${offers.length === 1 ? 'offer' : 'offers'} in ${regions.join(', ')}`
  const findings: Finding[] = [{ what: backend, state: 'ok', found: count }]
  const without = offers.filter(({ availability }) => availability === 'no_quota')
  if (without.length > 0) {
    const isAll = without.length === offers.length
    findings.push({
      what: `${backend}, quotas`,
      state: 'warning',
      found: `${isAll ? 'none' : `${without.length} of ${offers.length}`} of these offers ${isAll ? 'has' : 'have no'} quota`,
      mend: "ask the cloud for a higher service limit for the shapes that you need (OCI's console: Limits, Quotas and Usage)",
    })
  }
  return findings
}

/** A code whose message leaves open what to do. The others say it themselves. */
const advice: Record<string, string> = {
  no_answer:
    'try again in some minutes; if it stays so, look at the network and at the status page of the cloud',
  region_not_subscribed:
    'subscribe the tenancy to the region in its console, or take it out of "regions" in berth.yml',
  unknown_region: 'correct "regions" in berth.yml',
  catalogue_old: 'see the log of refresh-catalog (docs/runbook.md); prices may have changed since',
}

/** Where other offers of the cloud stand beside it, a part is missing; else all of it. */
const explained = ({ backend, code, message }: ShownError, offers: Offered[]): Finding => ({
  what: `${backend}, ${code}`,
  state: offers.some((each) => each.backend === backend) ? 'warning' : 'wrong',
  found: message,
  mend: advice[code],
})
