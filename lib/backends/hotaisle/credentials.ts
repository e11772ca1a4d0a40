import type { CredentialsCheck } from '../backend.ts'
import type { Api } from './api.ts'
import { wordsOfAnswer } from './client.ts'

/** How the API key stands with the team. Only `GET /user/` can tell: other calls answer 401 for other reasons. */
export type Standing =
  | { state: 'operator' }
  /** Of the team, but may not create or delete. */
  | { state: 'member'; roles: string[] }
  /** The key works; the team is not among its own. */
  | { state: 'stranger'; teams: string[] }
  | { state: 'bad_key' }
  | { state: 'unknown'; message: string }

export type Credentials = ReturnType<typeof createCredentials>

export const createCredentials = (api: Api, team: string) => {
  const standing = async (): Promise<Standing> => {
    const answer = await api.user()
    if (answer.kind === 'refused' && answer.status === 401) return { state: 'bad_key' }
    if (answer.kind !== 'ok') return { state: 'unknown', message: wordsOfAnswer(answer) }
    const teams = (answer.body.teams ?? []).filter(({ invitation }) => invitation !== true)
    const own = teams.find(({ handle }) => handle === team)
    if (!own) return { state: 'stranger', teams: teams.map(({ handle }) => handle) }
    const roles = own.effective_roles ?? []
    return roles.includes('operator') ? { state: 'operator' } : { state: 'member', roles }
  }
  return {
    standing,
    check: async () => judge(await standing(), team),
    /** Whether a 404 shows that a machine is gone: a key that doesn't see the team gets 404 for everything. */
    canSeeTeam: async () => ['operator', 'member'].includes((await standing()).state),
  }
}

/** What a standing means for one who wants to rent. */
export const judge = (standing: Standing, team: string): CredentialsCheck => {
  const bad = (message: string): CredentialsCheck => ({ ok: false, state: 'bad', message })
  switch (standing.state) {
    case 'operator':
      return { ok: true }
    case 'member':
      return bad(
        `The API key may not create or delete machines in the Hot Aisle team "${team}": its roles are ` +
          `${standing.roles.join(', ') || 'none'}. Give it the role "operator" in the Hot Aisle console.`,
      )
    case 'stranger':
      return bad(
        `The API key has no access to the Hot Aisle team "${team}"; it has access to ` +
          `${standing.teams.join(', ') || 'no team'}. Correct team_handle, or make a key for that team.`,
      )
    case 'bad_key':
      return bad(
        'Hot Aisle does not accept the API key. Make a new one in its console and set creds.api_key.',
      )
    case 'unknown':
      return { ok: false, state: 'unknown', message: `Hot Aisle did not answer: ${standing.message}` }
  }
}
