// Motion capture: sessions, and the registration of file names, which returns one address per name.

import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Transaction } from 'kysely'

import { callerOf, withoutOwner, type Caller } from '../access/callers.ts'
import { timeOf, type ServiceContext } from '../context.ts'
import type { Tables } from '../database/tables.ts'
import { wholeText } from '../database/whole-text.ts'
import { goneSignal } from '../http/gone-signal.ts'
import { malformed, refuse } from '../http/replies.ts'
import { mocapSessionFileRequest, mocapSessionRequest, readBody } from '../http/wire.ts'
import { inTurns } from '../in-turns.ts'
import type { ObjectKey } from '../objects/object-keys.ts'
import { storageOf } from '../objects/storage-of.ts'

/** Rows per statement, since a statement takes at most 65,535 parameters. */
const ROWS = 5_000

export function captureRoutes(app: FastifyInstance, context: ServiceContext): void {
  const storage = storageOf(context)

  app.post('/mocap_session', async (request) => {
    const body = readBody(mocapSessionRequest, request)
    const caller = callerOf(request)
    checkOrganisation(caller, body.org_id)
    const now = timeOf(context)
    const values = {
      id: randomUUID(),
      owner: caller.orgId,
      org_id: body.org_id,
      mocap_type_id: body.mocap_type_id,
      session_type_id: body.session_type_id,
      session_date: body.session_date,
      status: 'pending',
      created_at: now,
      updated_at: now,
    }
    const session = await context.db
      .transaction()
      .execute((trx) => trx.insertInto('mocap_sessions').values(values).returningAll().executeTakeFirstOrThrow())
    return { ...withoutOwner(session), session_id: session.id }
  })

  app.post('/mocap_session_file', async (request, reply) => {
    const gone = goneSignal(reply)
    const body = readBody(mocapSessionFileRequest, request)
    const sessionId = String(body.session_id)
    const owner = callerOf(request).orgId
    const { filenames } = body
    const { namesPerCall: limit } = context.settings.limits
    if (filenames.length > limit)
      refuse(422, 'too_many_names', `One call registers at most ${limit} names, this one has ${filenames.length}.`, {
        limit,
      })
    checkNoRepetition(filenames)
    context.answers.expectAddresses(reply, filenames.length)
    const sign = await storage.captureSigner()
    const fileIds = await context.db.transaction().execute(async (trx) => {
      // Registrations of one session come one after another here. Two that share names would otherwise wait for each other.
      const session = await trx
        .selectFrom('mocap_sessions')
        .select('mocap_type_id')
        .where('id', '=', sessionId)
        .where('owner', '=', owner)
        .forUpdate()
        .executeTakeFirst()
      if (session === undefined) refuse(404, 'session_not_found', 'No motion capture session has this session_id.')
      checkKind(filenames, context.settings.videoMocapTypeIds.has(session.mocap_type_id), body.video_framerate)
      const registration = {
        owner,
        sessionId,
        filenames,
        frameRate: body.video_framerate ?? null,
        at: timeOf(context),
        isReprocess: body.reprocess,
      }
      return registerFiles(trx, registration)
    })
    const keys = filenames.map((name): ObjectKey => {
      const fileId = fileIds.get(name)
      if (fileId === undefined) throw new Error('A registered name has no id.')
      return { flow: 'captures', sessionId, fileId }
    })
    const addresses = await inTurns(keys, sign, gone)
    // fromEntries defines properties, so a file called __proto__ gets its address like any other.
    return Object.fromEntries(filenames.map((name, index) => [name, addresses[index]]))
  })
}

/** A key belongs to one organisation. All others are refused alike, so that it learns nothing about which exist. */
function checkOrganisation({ orgId, isDevelopment }: Caller, asked: string): void {
  if (isDevelopment || asked === orgId) return
  refuse(403, 'organisation_refused', 'The credential belongs to another organisation than the one in org_id.')
}

function checkNoRepetition(filenames: readonly string[]): void {
  const seen = new Set<string>()
  for (const name of filenames) {
    if (seen.has(name)) {
      refuse(409, 'duplicate_file', `The file ${JSON.stringify(name)} is named twice in this request.`, {
        filename: name,
      })
    }
    seen.add(name)
  }
}

function checkKind(filenames: readonly string[], isVideo: boolean, frameRate: number | undefined): void {
  const stranger = filenames.find((name) => /\.(?:mov|mp4)$/i.test(name) !== isVideo)
  if (stranger !== undefined) {
    const wanted = isVideo ? 'video files (.mov, .mp4)' : 'files of a tracking system, not video'
    refuse(
      422,
      'wrong_file_kind',
      `The session's mocap type takes ${wanted}: ${JSON.stringify(stranger)} is not one.`,
      {
        filename: stranger,
      },
    )
  }
  if (isVideo && frameRate === undefined) malformed('video_framerate', 'is needed for the plain-video mocap type')
}

interface Registration {
  readonly owner: string
  readonly sessionId: string
  readonly filenames: readonly string[]
  readonly frameRate: number | null
  readonly at: Date
  readonly isReprocess: boolean
}

/** Registers all names or none, and returns the ids by name. A name that comes again keeps its id and takes the new frame rate. */
async function registerFiles(trx: Transaction<Tables>, registration: Registration): Promise<Map<string, number>> {
  const { owner, sessionId, filenames, frameRate, at, isReprocess } = registration
  const ids = new Map<string, number>()
  for (let start = 0; start < filenames.length; start += ROWS) {
    const names = filenames.slice(start, start + ROWS)
    const rows = await trx
      .insertInto('mocap_session_files')
      .values(
        names.map((name) => ({
          owner,
          session_id: sessionId,
          name,
          video_framerate: frameRate,
          registered_at: at,
        })),
      )
      .onConflict((conflict) => {
        const known = conflict.columns(['session_id', 'name'])
        if (!isReprocess) return known.doNothing()
        return known.doUpdateSet(({ ref }) => ({
          video_framerate: frameRate ?? ref('mocap_session_files.video_framerate'),
        }))
      })
      .returning(['id', wholeText('mocap_session_files.name', 'name')])
      .execute()
    for (const { id, name } of rows) ids.set(name, id)
    const known = names.find((name) => !ids.has(name))
    if (known !== undefined) {
      refuse(409, 'duplicate_file', `The session has the file ${JSON.stringify(known)} already.`, { filename: known })
    }
  }
  return ids
}
