// The calls of the service in a person's words: the library's errors name its own methods, which no analyst knows.

import type { OperationName } from '../../client/contract/routes.ts'

const WORDS: Readonly<Record<OperationName, string>> = {
  'mocapSessions.create': 'the creation of the capture session',
  'mocapSessionFiles.register': 'the registration of file names',
  'playerGroupSegments.create': 'the creation of a segment',
  'playerGroupSegments.update': 'the change of a segment',
  'requestedAnalyses.list': 'the listing of analyses',
  'requestedAnalyses.create': 'the creation of the analysis',
  'requestedAnalyses.get': 'the query for the analysis',
  'requestedAnalyses.update': 'the change of the analysis',
  'requestedAnalyses.submit': 'the submission of the analysis',
  'videoUploads.create': 'the creation of the video session',
  'videoUploads.confirm': 'the confirmation of a file',
  'videoUploads.cancel': 'the cancellation of the session',
}
const NAMES = new RegExp(
  `\\b(?:${Object.keys(WORDS)
    .map((name) => name.replace('.', '\\.'))
    .join('|')})\\b`,
  'g',
)

/** The message with each name of a method replaced. */
export function inWords(message: string): string {
  return message.replace(NAMES, (name) => WORDS[name as OperationName])
}
