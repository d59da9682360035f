// One swing as a tracking system would deliver it: a Hawk-Eye style `.action` document with one batter, 29 joints and
// 908 frames at 300 frames a second, about 1.2 MB of JSON. The motion is synthetic and nobody's: a body turns about its
// vertical axis, pelvis first, then trunk, then arms, with numbers drawn from a seed.

import { createSeededChance } from './seeded-chance.ts'
import type { SeededChance } from './seeded-chance.ts'

const TRACKING_FRAME_RATE = 300
const TRACKING_FRAME_COUNT = 908

type Point = readonly [x: number, y: number, z: number]
type SegmentName = 'feet' | 'legs' | 'pelvis' | 'trunk' | 'head' | 'arms'

/** How a segment takes part in a swing: its share of the turn, and how long after the feet it begins. */
interface Segment {
  readonly turnShare: number
  readonly lagSeconds: number
}

const SEGMENTS: Readonly<Record<SegmentName, Segment>> = {
  feet: { turnShare: 0.15, lagSeconds: 0 },
  legs: { turnShare: 0.45, lagSeconds: 0.02 },
  pelvis: { turnShare: 0.8, lagSeconds: 0.04 },
  trunk: { turnShare: 1, lagSeconds: 0.08 },
  head: { turnShare: 0.2, lagSeconds: 0.1 },
  arms: { turnShare: 1.35, lagSeconds: 0.12 },
}

// A right-handed batter at rest, in metres: x towards the pitcher, y away from the plate, z up.
const BODY: readonly (readonly [name: string, segment: SegmentName, rest: Point])[] = [
  ['nose', 'head', [0.1, -0.06, 1.58]],
  ['lEye', 'head', [0.11, -0.03, 1.62]],
  ['rEye', 'head', [0.08, -0.08, 1.62]],
  ['lEar', 'head', [0.07, 0.04, 1.6]],
  ['rEar', 'head', [-0.02, -0.06, 1.6]],
  ['neck', 'trunk', [0, 0, 1.42]],
  ['lShoulder', 'trunk', [0.19, -0.02, 1.38]],
  ['rShoulder', 'trunk', [-0.19, 0.02, 1.4]],
  ['lElbow', 'arms', [0.16, -0.26, 1.24]],
  ['rElbow', 'arms', [-0.36, -0.12, 1.26]],
  ['lWrist', 'arms', [-0.06, -0.3, 1.36]],
  ['rWrist', 'arms', [-0.13, -0.29, 1.42]],
  ['lThumb', 'arms', [-0.09, -0.33, 1.42]],
  ['rThumb', 'arms', [-0.16, -0.32, 1.48]],
  ['lPinky', 'arms', [-0.1, -0.28, 1.35]],
  ['rPinky', 'arms', [-0.17, -0.27, 1.41]],
  ['midHip', 'pelvis', [0, 0, 0.92]],
  ['lHip', 'pelvis', [0.12, 0, 0.92]],
  ['rHip', 'pelvis', [-0.12, 0, 0.92]],
  ['lKnee', 'legs', [0.27, -0.08, 0.5]],
  ['rKnee', 'legs', [-0.26, -0.08, 0.49]],
  ['lAnkle', 'feet', [0.36, 0, 0.1]],
  ['rAnkle', 'feet', [-0.35, 0, 0.1]],
  ['lHeel', 'feet', [0.37, 0.06, 0.04]],
  ['rHeel', 'feet', [-0.35, 0.06, 0.04]],
  ['lBigToe', 'feet', [0.37, -0.17, 0.03]],
  ['rBigToe', 'feet', [-0.34, -0.17, 0.03]],
  ['lSmallToe', 'feet', [0.43, -0.15, 0.03]],
  ['rSmallToe', 'feet', [-0.4, -0.15, 0.03]],
]

/** What makes one swing differ from the next. Lengths in metres, times in seconds, angles in radians. */
interface Swing {
  readonly personId: number
  /** -1 for a left-handed batter: the body is mirrored and stands on the other side of the plate. */
  readonly side: 1 | -1
  readonly bodyScale: number
  readonly stance: Point
  readonly onsetSeconds: number
  readonly swingSeconds: number
  readonly turn: number
  readonly strideMetres: number
  readonly swayPhase: number
  readonly pitchMetresPerSecond: number
}

/** The text of one tracking file. The same seed gives the same text. */
export function trackingFile(seed: string): string {
  const swing = drawSwing(createSeededChance(seed))
  const frames = Array.from({ length: TRACKING_FRAME_COUNT }, (_, frame) => frameText(swing, frame)).join(',\n')
  const person = `{"personId":${swing.personId},"role":{"name":"Batter"},"joints":[\n${frames}\n]}`
  const system = `{"targetFrameRate":${TRACKING_FRAME_RATE}}`
  return `{"system":${system},"samples":{"people":[${person}],"ball":[\n${ballText(swing)}\n]}}\n`
}

function drawSwing(chance: SeededChance): Swing {
  const side = chance.between(0, 1) < 0.7 ? 1 : -1
  return {
    personId: Math.floor(chance.between(100_000, 1_000_000)),
    side,
    bodyScale: chance.between(0.94, 1.08),
    stance: [chance.between(-0.5, 0.1), side * chance.between(0.6, 0.85), 0],
    onsetSeconds: chance.between(1.3, 1.6),
    swingSeconds: chance.between(0.2, 0.28),
    turn: chance.between(1.7, 2.1),
    strideMetres: chance.between(0.12, 0.25),
    swayPhase: chance.between(0, 2 * Math.PI),
    pitchMetresPerSecond: chance.between(35, 44),
  }
}

function frameText(swing: Swing, frame: number): string {
  const seconds = frame / TRACKING_FRAME_RATE
  const forward = swing.strideMetres * ramp((seconds - swing.onsetSeconds + 0.4) / 0.4)
  const sway = 0.012 * Math.sin(2 * Math.PI * 0.4 * seconds + swing.swayPhase)
  const joints = BODY.map(([name, segmentName, rest]) => {
    const { turnShare, lagSeconds } = SEGMENTS[segmentName]
    const angle = swing.turn * turnShare * ramp((seconds - swing.onsetSeconds - lagSeconds) / swing.swingSeconds)
    const x = rest[0] * Math.cos(angle) - rest[1] * Math.sin(angle)
    const y = rest[0] * Math.sin(angle) + rest[1] * Math.cos(angle)
    // The feet stay on the ground while the body above them sways and moves forward.
    const follow = Math.min(1, rest[2])
    return `"${name}":${pointText(
      swing.stance[0] + swing.bodyScale * x + follow * (forward + sway),
      swing.stance[1] + swing.bodyScale * swing.side * y + follow * sway * 0.5,
      swing.bodyScale * rest[2] + follow * sway * 0.3,
    )}`
  })
  return `{${joints.join(',')}}`
}

// The ball is seen from the pitcher's hand to the plate, where the arms arrive at the same time.
function ballText(swing: Swing): string {
  const contactSeconds = swing.onsetSeconds + SEGMENTS.arms.lagSeconds + swing.swingSeconds / 2
  const flightSeconds = 16.5 / swing.pitchMetresPerSecond
  const firstFrame = Math.ceil((contactSeconds - flightSeconds) * TRACKING_FRAME_RATE)
  const lastFrame = Math.floor(contactSeconds * TRACKING_FRAME_RATE)
  return Array.from({ length: lastFrame - firstFrame + 1 }, (_, index) => {
    const time = (firstFrame + index) / TRACKING_FRAME_RATE
    const toGo = contactSeconds - time
    const height = 0.8 + 1.1 * (toGo / flightSeconds) + 4.9 * toGo * (flightSeconds - toGo)
    return `{"time":${time.toFixed(6)},"pos":${pointText(swing.pitchMetresPerSecond * toGo, 0, height)}}`
  }).join(',\n')
}

/** Rises from 0 to 1 without a jump in position or speed. */
function ramp(progress: number): number {
  const clamped = Math.min(1, Math.max(0, progress))
  return clamped * clamped * (3 - 2 * clamped)
}

function pointText(x: number, y: number, z: number): string {
  return `[${x.toFixed(8)},${y.toFixed(8)},${z.toFixed(8)}]`
}
