// An analysis whose calls end unclearly: what its report says of the draft, and why it failed.

import { expect, it } from 'vitest'

import type { AnalysisFailedError, AnalysisReport } from '../../src/flows/analysis-report.ts'
import type { AnalysisOptions } from '../../src/flows/analysis.ts'
import { BASE_URL, createFarEnd, goodStorage, type Answer } from '../security/far-end.ts'
import { noWay } from './outage-rig.ts'

const ok = (body: unknown): Answer => ({ status: 200, body })
const LIST = 'GET /requested_analyses'
const CREATE = 'POST /requested_analyses'
const SUBMIT = 'PATCH /requested_analyses/7/submit'
const POLL = 'GET /requested_analyses/7'
/** What a service says that does all as it is asked. */
const GOOD: Readonly<Record<string, Answer>> = {
  [LIST]: ok([]),
  [CREATE]: ok({ id: 7, status: 'draft' }),
  [SUBMIT]: ok({ status: 'requested' }),
  [POLL]: ok({ id: 7, status: 'completed' }),
}

/** How an analysis ends whose calls get these answers, one after the other, and those of a good service after them. */
async function ended(
  answers: Readonly<Record<string, readonly (Answer | undefined)[]>>,
  idOf?: AnalysisOptions['idOf'],
) {
  const calls: string[] = []
  const { uplink, settled } = createFarEnd({
    storage: goodStorage,
    service({ method, url }) {
      const call = `${method} ${url.slice(BASE_URL.length)}`
      calls.push(call)
      const [own, time] = [answers[call] ?? [], calls.filter((each) => each === call).length]
      return time > own.length ? GOOD[call] : own[time - 1]
    },
  })
  const analysis = uplink.requestAnalysis({ name: 'Weekly', primary: { segmentId: 5 }, ...(idOf && { idOf }) })
  const end: { report: AnalysisReport; cause?: unknown } = await settled(
    analysis.done().then(
      (report) => ({ report }),
      (error: unknown) => error as AnalysisFailedError,
    ),
  )
  return { report: end.report, cause: end.cause, calls }
}

it.each([
  [
    'the reply to its create has no id, and the list of all is refused',
    { [CREATE]: [ok({})], [LIST]: [{ status: 400 }] },
  ],
  ['the reply to its create has no id, and nor has the list', { [CREATE]: [ok({})] }],
])('a draft may be there where %s', async (_, answers) => {
  const { report, calls } = await ended(answers)

  expect(report).toMatchObject({
    status: 'failed',
    hasPossibleDraft: true,
    error: { code: 'ERR_UPLOAD_SERVICE_REPLY' },
  })
  expect(calls).toEqual([CREATE, LIST])
})

it.each([
  [{}, 'none'],
  [{ name: 'Weekly', uuid: 7 }, 'uuid, name'],
])('says which fields a reply has that names no id: %j', async (body, fields) => {
  const { report } = await ended({ [CREATE]: [ok(body)] })

  expect(report.error?.message).toContain(`(fields: ${fields}). Name the field with the idOf option.`)
})

it('a draft may be there where the host’s own function cannot read its id', async () => {
  const { report } = await ended({}, ({ data }) => (data as { readonly id: string }).id)

  expect(report).toMatchObject({ status: 'failed', hasPossibleDraft: true, error: { code: 'ERR_UPLOAD_INTERNAL' } })
})

const REFUSED: Answer = { status: 409, body: { message: 'It is requested already.' } }

it('is followed where its submit had no answer, and is then refused because it has begun', async () => {
  const { report, calls } = await ended({
    [SUBMIT]: [undefined, REFUSED],
    [POLL]: [ok({ id: 7, status: 'requested' })],
  })

  expect(report).toMatchObject({ status: 'completed', analysisId: 7 })
  expect(calls).toEqual([CREATE, SUBMIT, SUBMIT, POLL, POLL])
})

it.each([
  ['it is a draft still', ok({ id: 7, status: 'Draft' })],
  ['nothing says what it is', ok({ id: 7 })],
  ['nobody knows it', { status: 404 }],
])('has failed where its submit had no answer and is then refused, and %s', async (_, found) => {
  const { report } = await ended({ [SUBMIT]: [undefined, REFUSED], [POLL]: [found] })

  expect(report).toMatchObject({ status: 'failed', error: { code: 'ERR_UPLOAD_SERVICE_REFUSED', status: 409 } })
})

it('has failed at once where its submit is clearly refused', async () => {
  const { report, cause, calls } = await ended({ [SUBMIT]: [REFUSED] })

  expect(report).toMatchObject({ status: 'failed', error: { code: 'ERR_UPLOAD_SERVICE_REFUSED', status: 409 } })
  expect(cause).toMatchObject({
    code: 'ERR_UPLOAD_SERVICE_REFUSED',
    details: { operation: 'requestedAnalyses.submit' },
  })
  expect(calls).toEqual([CREATE, SUBMIT])
})

it('goes on where a sign-in page answers the first question after its submit: the service has answered before', async () => {
  const { report, calls } = await ended({ [POLL]: [{ status: 200, body: '<html>Welcome</html>' }] })

  expect(report).toMatchObject({ status: 'completed' })
  expect(calls).toEqual([CREATE, SUBMIT, POLL, POLL])
})

it('has failed where no try of its submit had an answer: the service is asked no more', async () => {
  const { report, calls } = await ended({ [SUBMIT]: Array<Answer>(20).fill({ status: 500 }) })

  expect(report).toMatchObject({ status: 'failed', error: { code: 'ERR_UPLOAD_RETRIES_EXHAUSTED', status: 500 } })
  expect(new Set(calls)).toEqual(new Set([CREATE, SUBMIT]))
})

it('that the service says has failed has none of our earlier failures as its cause', async () => {
  const { report, cause } = await ended({ [CREATE]: [undefined], [POLL]: [ok({ status: 'failed' })] })

  expect(report).toMatchObject({ status: 'failed', serviceStatus: 'failed' })
  expect([report.error, cause]).toEqual([undefined, undefined])
})

it.each([2, { name: 'processing' }, null, ['draft']])(
  'an analysis whose status is no word but %j goes on until there is one',
  async (status) => {
    const { report } = await ended({
      [CREATE]: [ok({ id: 7, status })],
      [SUBMIT]: [ok({ status })],
      [POLL]: [ok({ id: 7, status })],
    })

    expect(report).toMatchObject({ status: 'completed', serviceStatus: 'completed' })
  },
)

it.each([
  ['its draft is looked for', { [CREATE]: [undefined] }, LIST],
  ['it is asked whether its submit was heard', { [SUBMIT]: [undefined, REFUSED] }, POLL],
])(
  'leaves no call that goes on where it is stopped while %s',
  async (_, answers: Record<string, (Answer | undefined)[]>, away) => {
    const { uplink, clock, requests, settled } = createFarEnd({
      storage: goodStorage,
      service({ method, url }) {
        const call = `${method} ${url.slice(BASE_URL.length)}`
        if (call === away) return noWay()
        const own = answers[call] ?? []
        return own.length > 0 ? own.shift() : GOOD[call]
      },
    })
    const analysis = uplink.requestAnalysis({ name: 'Weekly', primary: { segmentId: 5 } })
    await clock.advance(30_000)
    expect(requests.at(-1)).toMatchObject({ method: 'GET', url: BASE_URL + away.slice('GET '.length) })
    analysis.stop()

    expect(await settled(analysis.done())).toMatchObject({ status: 'stopped' })
    expect(clock.pending).toBe(0)
  },
)
