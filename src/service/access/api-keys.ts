// API keys of organisations: a public id and 256 random bits. Only the SHA-256 of the whole key is stored, which is enough for a
// value that nobody can guess. Reading the database gives nobody a usable key.

import { randomBytes, timingSafeEqual } from 'node:crypto'

import type { Database } from '../database/tables.ts'
import { wholeText } from '../database/whole-text.ts'
import { digestOf } from './secret-digest.ts'

/** What is known of a key. The key itself is shown once, when it is made. */
export interface ApiKeyRecord {
  /** Public: identifies the key in lists and for `revoke`. */
  readonly id: string
  readonly orgId: string
  readonly name: string
  readonly createdAt: Date
  readonly revokedAt: Date | null
}

const MAX_TEXT_BYTES = 256
const ID_BYTES = 8
const SECRET_BYTES = 32
const KEY = /^mocap_([0-9a-f]{16})_[\w-]{43}$/

/** Makes a key. `key` is secret and stored nowhere. Throws a TypeError when a text is empty, too long or not storable. */
export async function createApiKey(
  db: Database,
  { orgId, name, now }: { readonly orgId: string; readonly name: string; readonly now: Date },
): Promise<ApiKeyRecord & { readonly key: string }> {
  checkText('The organisation', orgId)
  checkText('The name', name)
  const id = randomBytes(ID_BYTES).toString('hex')
  const key = `mocap_${id}_${randomBytes(SECRET_BYTES).toString('base64url')}`
  await db
    .insertInto('api_keys')
    .values({ id, owner: orgId, name, digest: digestOf(key).toString('hex'), created_at: now, revoked_at: null })
    .execute()
  return { id, orgId, name, createdAt: now, revokedAt: null, key }
}

/** All keys, oldest first. */
export async function listApiKeys(db: Database): Promise<ApiKeyRecord[]> {
  const rows = await db
    .selectFrom('api_keys')
    .select(['id', wholeText('owner', 'owner'), wholeText('name', 'name'), 'created_at', 'revoked_at'])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    orgId: row.owner,
    name: row.name,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  }))
}

/** Revokes a key as of the next call made with it. Returns false for an unknown id. Revoking again changes nothing. */
export async function revokeApiKey(db: Database, id: string, now: Date): Promise<boolean> {
  const revoked = await db
    .updateTable('api_keys')
    .set(({ fn, val }) => ({ revoked_at: fn.coalesce('revoked_at', val(now)) }))
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
  return revoked !== undefined
}

/** The organisation of a key; undefined for an unknown or revoked key. Nothing is cached between calls. */
export async function organisationOfKey(db: Database, key: string): Promise<string | undefined> {
  const id = KEY.exec(key)?.[1]
  if (id === undefined) return undefined
  const row = await db
    .selectFrom('api_keys')
    .select([wholeText('owner', 'owner'), 'digest'])
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined && timingSafeEqual(Buffer.from(row.digest, 'hex'), digestOf(key)) ? row.owner : undefined
}

/** Whether a text can be the name of an organisation or of a key. */
export function isUsableName(text: string): boolean {
  return text.trim() !== '' && Buffer.byteLength(text) <= MAX_TEXT_BYTES && !/[\p{Cc}\p{Surrogate}]/u.test(text)
}

function checkText(what: string, text: string): void {
  if (!isUsableName(text))
    throw new TypeError(`${what} of a key must be 1 to ${MAX_TEXT_BYTES} bytes of text without control characters.`)
}
