import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { keyRoles } from '../model/choices.ts'
import type { ApiKey } from '../store/store.ts'
import { hashOf } from './authorize.ts'

export const keyName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,62}$/,
    'use 1 to 63 lower-case letters, digits, dots, hyphens and underscores',
  )
export const keyRole = z.enum(keyRoles)

/** A new key, to be told once, and what is kept of it. */
export const newApiKey = (about: Omit<ApiKey, 'hash'>): { apiKey: string; kept: ApiKey } => {
  const apiKey = `berth_${randomBytes(32).toString('base64url')}`
  return { apiKey, kept: { ...about, hash: hashOf(apiKey) } }
}

/** Names a key without telling it: the first digits of its SHA-256. */
export const keyId = ({ hash }: Pick<ApiKey, 'hash'>): string => hash.slice(0, 12)
