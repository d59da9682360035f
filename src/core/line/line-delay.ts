// Listens to the line for background: how long it takes to answer while we send. Where the transport can measure a round trip,
// it does so twice a second; elsewhere each answer tells, by the time from the last byte handed over until it came.

import { bodyLength } from '../body-length.ts'
import { createAlarm } from '../time/alarm.ts'
import { createBackground } from './background.ts'
import type { Transport, TransportReply, TransportRequest } from '../ports.ts'
import { timeRoundTrip, type RoundTripPorts } from './round-trips.ts'
import { sendThrough } from '../send-through.ts'

export interface LineDelay {
  /** The transport to send with, so that answers are heard. */
  readonly transport: Transport
  /** This many more bytes were handed to the network. */
  addBytes(bytes: number): void
  /** Sets whether anything is being sent; nothing is measured otherwise. */
  setActive(isActive: boolean): void
}

const PROBE_EVERY_MS = 500

/** `onRate` is called with the rate that all parts together may have, bytes per second. */
export function createLineDelay(ports: RoundTripPorts, onRate: (bytesPerSecond: number) => void): LineDelay {
  const { transport, clock } = ports
  const background = createBackground()
  const now = (): number => clock.monotonicNow()
  let bytesSince = 0
  let isActive = false
  let latestUrl: string | undefined
  let probing: AbortController | undefined

  const hear = (delayMs: number): void => {
    background.onSample({ atMs: now(), delayMs, bytesSince })
    bytesSince = 0
    onRate(background.bytesPerSecond())
  }
  const probe = async (url: string): Promise<void> => {
    probing = new AbortController()
    const delayMs = await timeRoundTrip(ports, url, probing)
    if (delayMs !== undefined) hear(delayMs)
  }
  const setAlarm = createAlarm(clock, () => {
    const began = latestUrl === undefined ? Promise.resolve() : probe(latestUrl)
    void began.then(() => {
      if (isActive) setAlarm(now() + PROBE_EVERY_MS)
    })
  })

  const sendAndHear = async (request: TransportRequest, forward: Transport['send']): Promise<TransportReply> => {
    let handedOverAtMs: number | undefined
    const lengthBytes = request.body ? bodyLength(request.body) : 0
    const reply = await forward({
      ...request,
      onSent(sentBytes) {
        if (sentBytes >= lengthBytes) handedOverAtMs ??= now()
        request.onSent?.(sentBytes)
      },
    })
    if (handedOverAtMs !== undefined) hear(now() - handedOverAtMs)
    return reply
  }
  onRate(background.bytesPerSecond())

  return {
    transport: sendThrough(transport, {
      send(request, forward) {
        latestUrl = request.url
        return transport.roundTrip === undefined ? sendAndHear(request, forward) : forward(request)
      },
    }),
    addBytes(bytes) {
      bytesSince += Math.max(0, bytes)
    },
    setActive(isNowActive) {
      isActive = isNowActive
      if (transport.roundTrip === undefined) return
      setAlarm(isActive ? now() + PROBE_EVERY_MS : undefined)
      if (!isActive) probing?.abort()
    },
  }
}
