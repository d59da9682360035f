// The library's errors in a person's words. They name the library's own methods and options, which no analyst knows.

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

/** What the library says of an option or a path, and what the command says. */
const FLAGS = [
  ['or allow HTTP.', 'or give --allow-http.'],
  ['or allow plain HTTP if', 'or give --allow-http if'],
  ['or give the kind.', 'or give --kind.'],
  ['frameRate is missing', '--frame-rate is missing'],
  ['with a CA file;', 'with --ca-file;'],
  ['another state folder.', 'another state folder with --state-dir.'],
  ['filesUnder: a path is empty or no string. Give paths.', 'A path is empty: name a file or a folder.'],
] as const

/** The message with each name of a method or an option replaced. */
export function inWords(message: string): string {
  const named = message.replace(NAMES, (name) => WORDS[name as OperationName])
  return FLAGS.reduce((text, [ours, flag]) => text.replace(ours, flag), named)
}
