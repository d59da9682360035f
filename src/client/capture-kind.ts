// Which kind of capture a set of files is, judged by their names: video, or the files of a tracking system.

import { invalid } from '../core/errors.ts'
import { show } from './checks.ts'

export type CaptureKind = 'video' | 'tracking'

/**
 * The kind of a session's files. Without `given`, either all names end in .mov or .mp4 (in any case: video) or none
 * does (tracking). `given` settles a mixed set. It is refused if every name says the other kind.
 */
export function resolveCaptureKind(names: readonly string[], given?: CaptureKind): CaptureKind {
  const videoName = names.find(isVideoName)
  const otherName = names.find((name) => !isVideoName(name))
  if (given !== undefined && !['video', 'tracking'].includes(given))
    invalid(`The kind of capture is ${show(given)}: give video or tracking.`, { field: 'kind' })
  if (given === 'video' && videoName === undefined && otherName !== undefined)
    invalid(`The kind is video, but no file ends in .mov or .mp4 (for example ${show(otherName)}).`, { field: 'kind' })
  if (given === 'tracking' && videoName !== undefined && otherName === undefined)
    invalid(`The kind is tracking, but every file is a video by its name (for example ${show(videoName)}).`, {
      field: 'kind',
    })
  if (given !== undefined) return given
  if (videoName !== undefined && otherName !== undefined)
    invalid(
      `The files are of two kinds: ${show(videoName)} is a video by its name, ${show(otherName)} is not. ` +
        'Upload each kind by itself, or give the kind.',
      { field: 'kind' },
    )
  if (videoName === undefined && otherName === undefined)
    invalid('There are no files to tell the kind of capture by: give files or the kind.', { field: 'kind' })
  return videoName === undefined ? 'tracking' : 'video'
}

/** Whether the name says that the file is a video. */
export function isVideoName(name: string): boolean {
  return /\.(?:mov|mp4)$/i.test(name)
}
