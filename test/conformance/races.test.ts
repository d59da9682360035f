// Calls that meet: whichever comes first, the outcome is one, and it is told alike by every copy.

import { describe, expect, it } from 'vitest'

import type { Answer } from './plain-http.ts'
import { call, confirm, isAbsent, openCapture, putBoth, register, storedOf } from './service-calls.ts'

const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status).sort()

/** Asks again for as long as the answer is that it was busy, as every client must. */
async function settled(ask: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 0; tries < 20; tries += 1) {
    const answer = await ask()
    if (answer.status !== 503) return answer
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
  }
  throw new Error('It was busy twenty times.')
}

describe.skipIf(isAbsent)('calls that come at once', () => {
  it('confirm a file once, however many ask, and all are told so', async () => {
    for (let round = 0; round < 3; round++) {
      const { file, etags } = await putBoth()

      const answers = await Promise.all(Array.from({ length: 9 }, () => settled(() => confirm(file, etags))))

      expect(statuses(answers)).toEqual(Array.from({ length: 9 }, () => 200))
      expect(await storedOf(file.sessionId, 'video')).toHaveLength(1)
    }
  })

  it('confirm with one list of ETags and not with another', async () => {
    const { file, etags } = await putBoth()
    const other = [etags[0], [2, etags[0][1]]] as const

    const answers = await Promise.all([
      settled(() => confirm(file, other)),
      settled(() => confirm(file, etags)),
      settled(() => confirm(file, other)),
    ])

    expect(answers.map(({ status }) => status)).toEqual([409, 200, 409])
  })

  it('either confirm or cancel first: nothing is left of a cancelled session', async () => {
    for (let round = 0; round < 10; round++) {
      const { file, etags } = await putBoth()
      const cancel = () => settled(() => call('DELETE', `/upload_videos/${file.sessionId}`))

      const [confirmed, ...cancelled] = await Promise.all([settled(() => confirm(file, etags)), cancel(), cancel()])

      expect([200, 409], confirmed.text).toContain(confirmed.status)
      expect(statuses(cancelled)).toEqual([200, 200])
      expect(await storedOf(file.sessionId, 'video')).toEqual([])
      expect((await confirm(file, etags)).status).toBe(409)
    }
  })

  it('register a name once, and nothing else of the calls that are refused', async () => {
    const session_id = await openCapture()
    const answers = await Promise.all(
      Array.from({ length: 9 }, (_, index) =>
        settled(() =>
          call('POST', '/mocap_session_file', {
            session_id,
            filenames: [`conformance-${index}.action`, 'same.action'],
          }),
        ),
      ),
    )

    expect(statuses(answers)).toEqual([200, ...Array.from({ length: 8 }, () => 409)])
    const refused = answers.flatMap(({ status }, index) => (status === 409 ? [`conformance-${index}.action`] : []))
    expect(Object.keys(await register(session_id, refused))).toEqual(refused)
  })

  it('never let the segments of an analysis drift apart', async () => {
    for (let round = 0; round < 5; round++) {
      const segment = async () => {
        const { json } = await call('POST', '/player_group_segments', { movement_type_id: 1, dom_hand: 'RHA' })
        return (json as { analysis_segment_id: number }).analysis_segment_id
      }
      const [primary, comparison] = [await segment(), await segment()]

      const [made, changed] = await Promise.all([
        settled(() =>
          call('POST', '/requested_analyses', {
            ...{ name: 'conformance race', primary_analysis_segment_id: primary },
            comparison_analysis_segment_id: comparison,
          }),
        ),
        settled(() => call('PATCH', `/player_group_segments/${comparison}`, { dom_hand: 'LHA' })),
      ])

      expect([
        [200, 409],
        [422, 200],
      ]).toContainEqual([made.status, changed.status])
    }
  })

  it('submit an analysis once', async () => {
    const { json } = await call('POST', '/player_group_segments', { movement_type_id: 1, dom_hand: 'RHA' })
    const { analysis_segment_id: segment } = json as { analysis_segment_id: number }
    const made = await call('POST', '/requested_analyses', {
      ...{ name: 'conformance race', primary_analysis_segment_id: segment },
    })
    const { id } = made.json as { id: number }

    const answers = await Promise.all(
      Array.from({ length: 5 }, () => settled(() => call('PATCH', `/requested_analyses/${id}/submit`))),
    )

    expect(statuses(answers)).toEqual([200, 200, 200, 200, 200])
    expect(new Set(answers.map(({ json: one }) => (one as { requested_at: string }).requested_at)).size).toBe(1)
  })
})
