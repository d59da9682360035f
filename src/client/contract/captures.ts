// Motion capture on the wire: sessions, and file names, each answered with an address.

import { fromWire, ownField, readCount, readId, readText } from './fields.ts'
import type { ServiceId, WireObject } from './fields.ts'

export interface MocapSessionInput {
  readonly orgId: string
  readonly mocapTypeId: number
  /** The day of capture, YYYY-MM-DD. */
  readonly sessionDate: string
  readonly sessionTypeId: number
  /** Fields of the service that its interface does not show, under their wire names. Default: none. */
  readonly extra?: WireObject | undefined
}

/** A capture session. Fields that we do not know are kept under their wire names. */
export interface MocapSession {
  readonly id: ServiceId
  readonly sessionId: ServiceId
  readonly orgId?: string
  readonly mocapTypeId?: number
  readonly sessionTypeId?: number
  readonly sessionDate?: string
  readonly numMovements?: number
  readonly numPlayers?: number
  /** The service's own word: `pending` for a new session. The interface does not show the other words. */
  readonly status?: string
  readonly createdAt?: string
  readonly updatedAt?: string
  /** Present if an earlier try had no clear answer, so that the service may hold a session nobody will use. */
  readonly hasPossibleOrphan?: true
  readonly [wireName: string]: unknown
}

export interface RegisterFilesInput {
  readonly sessionId: ServiceId
  /** In the order in which the movements were captured, each name once. */
  readonly filenames: readonly string[]
  /** Frames a second. The service requires it if the session's type is plain video. */
  readonly frameRate?: number | undefined
  /** Whether names that exist already may be sent again. Default false. */
  readonly reprocess?: boolean | undefined
  readonly extra?: WireObject | undefined
}

/** Returns undefined if the reply names no session. */
export function mocapSessionFromWire(raw: WireObject): MocapSession | undefined {
  const [id, sessionId] = [readId(ownField(raw, 'id')), readId(ownField(raw, 'session_id'))]
  if (id === undefined && sessionId === undefined) return undefined
  const session = fromWire(raw, {
    org_id: readText,
    mocap_type_id: readCount,
    session_type_id: readCount,
    session_id: readId,
    session_date: readText,
    num_movements: readCount,
    num_players: readCount,
    status: readText,
    created_at: readText,
    updated_at: readText,
  })
  // Assigned, not spread: a spread would lose a field named __proto__.
  return Object.assign(session, { id: id ?? sessionId, sessionId: sessionId ?? id }) as MocapSession
}

/** The address of each name; if not all have one of their own, the names without an address, and those that share one. */
export interface NamedAddresses {
  readonly addresses: Map<string, string>
  readonly missing: readonly string[]
  readonly shared: readonly string[]
}

/**
 * Finds the address of each name, in the order asked. A name is looked up exactly, then in its composed Unicode form
 * (NFC), because services store names that way. A form that two asked names or two keys share matches nothing.
 */
export function addressesByName(raw: WireObject, names: readonly string[]): NamedAddresses {
  const asked = new Set(names)
  const spareNames = byForm(names.filter((name) => !Object.hasOwn(raw, name)))
  // Only forms that were asked for: a reply may have a million keys that nobody asked for.
  const isSpare = (key: string): boolean => !asked.has(key) && spareNames.has(key.normalize('NFC'))
  const spareKeys = byForm(spareNames.size === 0 ? [] : Object.keys(raw).filter(isSpare))
  const keyOf = (name: string): string | undefined => {
    if (Object.hasOwn(raw, name)) return name
    const form = name.normalize('NFC')
    return spareNames.get(form) && spareKeys.get(form)
  }
  const addresses = new Map<string, string>()
  const ownerOf = new Map<string, string>()
  const missing: string[] = []
  const shared: string[] = []
  for (const name of names) {
    const key = keyOf(name)
    const address = key === undefined ? undefined : raw[key]
    if (typeof address !== 'string' || !isAddress(address)) missing.push(name)
    else {
      const owner = ownerOf.get(address)
      if (owner !== undefined) shared.push(owner, name)
      else ownerOf.set(address, name)
      addresses.set(name, address)
    }
  }
  return { addresses, missing, shared }
}

/** The names by their composed form; undefined under one that several share. */
function byForm(names: readonly string[]): Map<string, string | undefined> {
  const forms = new Map<string, string | undefined>()
  for (const name of names) {
    const form = name.normalize('NFC')
    forms.set(form, forms.has(form) ? undefined : name)
  }
  return forms
}

/** Longer than any signed address, in characters. Servers accept no more than half of it. */
const LONGEST_ADDRESS = 16_384

/**
 * True for an absolute web address without control characters and without a user. A parser drops or hides these, so the
 * request would go elsewhere than the text says. Whether plain HTTP is allowed is checked where the address is used.
 */
export function isAddress(text: string): boolean {
  if (text.length > LONGEST_ADDRESS || !/^https?:\/\/[^/\\]/i.test(text) || /\p{Cc}/u.test(text)) return false
  // Up to the host where that is plain: what follows makes no URL invalid, and takes a parser most of its time.
  const beginning = /^https?:\/\/[\w.:-]+\//.exec(text)?.[0] ?? text
  try {
    // Not URL.canParse: once optimized, it refuses a host outside ASCII in Node 20 and 22.
    const { username, password } = new URL(beginning)
    return username + password === ''
  } catch {
    return false
  }
}
