// The drawings, as paths on a 20 × 20 field.

import type { ItemState } from './items.ts'

const CIRCLE = 'M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15'

/** One for each state of a file: they differ in shape, not in colour alone. */
export const ICONS: Readonly<Record<ItemState, string>> = {
  ready: 'M6 2.5h5.5l4 4v11H6A1.5 1.5 0 0 1 4.5 16V4A1.5 1.5 0 0 1 6 2.5m5.5 0v4h4',
  waiting: `${CIRCLE}M10 6v4l2.5 2`,
  paused: 'M7 5v10M13 5v10',
  uploading: 'M10 15.5V5M5.5 9.5L10 5l4.5 4.5',
  confirming: CIRCLE,
  confirmed: `${CIRCLE}M6.5 10.2l2.4 2.4 4.6-5`,
  failed: `${CIRCLE}M10 6v4.5M10 13.4v.1`,
  cancelled: `${CIRCLE}M7 10h6`,
}
