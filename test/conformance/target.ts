// What a run of the suite judges: an engine that it starts for itself, named by the project (`service pglite-disk`), or a
// deployment that the environment names.

import type { TestProject } from 'vitest/node'

import { ENGINES, missingFor, type EngineName } from './engine-needs.ts'
import { startEngine } from './engines.ts'

export interface Target {
  /** Of each copy, without a slash at the end; calls go to one after the other. */
  readonly baseUrls: readonly string[]
  /** The headers of the credential that the suite works under. Secret. */
  readonly headers: Readonly<Record<string, string>>
  /** The organisation of that credential. */
  readonly orgId: string
  /** Of another organisation's credential, where there is one: what belongs to whom is judged only with it. */
  readonly other: { readonly headers: Readonly<Record<string, string>>; readonly orgId: string } | undefined
  /** Of an organisation that nobody else uses, so that its records can be counted. */
  readonly fuzzed: { readonly headers: Readonly<Record<string, string>>; readonly orgId: string }
  /** What is left behind goes with the engine. A deployment keeps it. */
  readonly isThrownAway: boolean
  /** A bearer token, where one is known. Secret. */
  readonly accessToken: string | undefined
  /** The database behind it, where the suite may look. Secret. */
  readonly databaseUrl: string | undefined
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Undefined where the engine cannot be started on this machine. */
    readonly target: Target | undefined
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const name = project.name.replace(/^service /, '')
  if (!ENGINES.includes(name as EngineName)) {
    project.provide('target', deployment(process.env))
    return undefined
  }
  const missing = missingFor(name as EngineName)
  if (missing.length > 0) {
    project.provide('target', undefined)
    process.stdout.write(
      `\n${'!'.repeat(96)}\n  NOT TESTED: the interface on ${name}. Install ${missing.join(' ')}.\n${'!'.repeat(96)}\n\n`,
    )
    return undefined
  }
  const { baseUrls, keys, accessToken, databaseUrl, stop } = await startEngine(name as EngineName)
  const of = (orgId: keyof typeof keys) => ({ headers: { 'x-api-key': keys[orgId] }, orgId })
  project.provide('target', {
    ...{ baseUrls, accessToken, databaseUrl, isThrownAway: true, ...of('org-conformance') },
    ...{ other: of('org-other'), fuzzed: of('org-fuzzed') },
  })
  return stop
}

/** Throws, without quoting a value, when the environment does not say enough. */
function deployment(env: NodeJS.ProcessEnv): Target {
  const { MOCAP_BASE_URL, MOCAP_API_KEY, MOCAP_ACCESS_TOKEN, MOCAP_ORG_ID, MOCAP_OTHER_API_KEY, MOCAP_OTHER_ORG_ID } =
    env
  if (!MOCAP_BASE_URL || !URL.canParse(MOCAP_BASE_URL))
    throw new Error('Give the URL of the deployment: --base-url URL.')
  if (!MOCAP_API_KEY && !MOCAP_ACCESS_TOKEN) throw new Error('Set MOCAP_API_KEY or MOCAP_ACCESS_TOKEN.')
  if (!MOCAP_OTHER_API_KEY !== !MOCAP_OTHER_ORG_ID)
    throw new Error('Set both MOCAP_OTHER_API_KEY and MOCAP_OTHER_ORG_ID, or neither.')
  const own = {
    headers: MOCAP_API_KEY ? { 'x-api-key': MOCAP_API_KEY } : { authorization: `Bearer ${MOCAP_ACCESS_TOKEN ?? ''}` },
    orgId: MOCAP_ORG_ID || 'conformance',
  }
  return {
    ...{
      baseUrls: [MOCAP_BASE_URL.replace(/\/+$/, '')],
      ...own,
      fuzzed: own,
      databaseUrl: undefined,
      isThrownAway: false,
    },
    accessToken: MOCAP_ACCESS_TOKEN || undefined,
    other:
      MOCAP_OTHER_API_KEY && MOCAP_OTHER_ORG_ID
        ? { headers: { 'x-api-key': MOCAP_OTHER_API_KEY }, orgId: MOCAP_OTHER_ORG_ID }
        : undefined,
  }
}
