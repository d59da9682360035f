// What markup says, read into the input of a flow.

import { expect, it } from 'vitest'
import { inputOf, isOn, kindNames, kindsIn } from '../../src/element/attributes.ts'

function elementWith(attributes: Readonly<Record<string, string>>): Element {
  return { getAttribute: (name: string) => attributes[name] ?? null } as unknown as Element
}

it('is on where it is present, in whatever words, and off where a framework wrote false', () => {
  expect(['', 'true', 'auto-start', 'false', null].map(isOn)).toEqual([true, true, true, false, false])
  expect(inputOf(elementWith({ rename: '', reprocess: 'false' }), {})).toEqual({ rename: true, reprocess: false })
})

it('is a number, a text or nothing, and loses to what is given by property', () => {
  const element = elementWith({ 'movement-type': '3', player: 'p-17', date: '', 'session-type': 'two' })

  expect(inputOf(element, { playerId: 'p-18' })).toEqual({ movementTypeId: 3, playerId: 'p-18', sessionTypeId: NaN })
})

it('keeps what markup says where a field is given by property, and is undefined', () => {
  const input = inputOf(elementWith({ player: 'p-17', 'frame-rate': '240' }), {
    playerId: undefined,
    frameRate: undefined,
  })

  expect(input).toEqual({ playerId: 'p-17', frameRate: 240 })
})

it('names the kinds between the commas, and none behind the last', () => {
  expect([kindsIn('.mp4, .mov,'), kindsIn('')]).toEqual([['.mp4', '.mov'], []])
})

it('calls each kind by one name, once, whether it is given by its ending, its type or both', () => {
  expect(kindNames('.mp4,video/mp4,.MOV,video/*,')).toEqual(['MP4', 'MOV', 'VIDEO'])
})
