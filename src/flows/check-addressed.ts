// Checks whether addresses fit what was asked for, whether they come from the service, a host's protocol or its renewAddresses.
// The check comes before they are journalled: a wrong address would store one part in another's place, and a wrong count would
// make the journal unreadable.

import { checkAddress, type AddressRules } from '../core/address/address-policy.ts'
import { isKeepableId } from '../core/journal/found-records.ts'
import type { AddressedFile, PlannedFile, Protocol } from '../core/ports.ts'
import { wrong } from '../protocols/match-addresses.ts'

/** Which file owns the place of its first part. A later batch must not give that place to another file. */
export type PlaceOwners = Map<string, number>

/**
 * Stores whose signatures we know: AWS and CloudFront, Google, Azure. For any other store a token in the query may be all that
 * names the object.
 */
const OF_STORE = /[?&](?:x-(?:amz|goog)-|\w+access\w*id=|key-pair-id=|sv=)/i
/** What each signing creates anew at those stores. Anything else in a query may name the object. */
const OF_SIGNATURE = /[?&](?:x-(?:amz|goog)-[^=&]*|expires|signature|policy|sig|s[et]|sk[et])=[^&#]*/gi

/** Where the bytes of a part go: its address without the signature, plus what its request adds. Default: the file's first part. */
export function placeOf(
  protocol: Pick<Protocol, 'request'>,
  { fileIndex, partSizeBytes, sizeBytes }: PlannedFile,
  address: string,
  index = 0,
): string {
  const start = index * partSizeBytes
  const unit = { fileIndex, partNumber: index + 1, start, end: Math.min(start + partSizeBytes, sizeBytes) }
  const place = OF_STORE.test(address) ? address.replace(OF_SIGNATURE, '') : address
  return place + JSON.stringify(protocol.request(unit, address))
}

/** Throws ERR_UPLOAD_SERVICE_REPLY for what a journal would not be read with: null of a host's protocol, for one. */
export function checkGivenId(id: unknown): void {
  if (!isKeepableId(id)) wrong('The service gave no id.')
}

/**
 * Throws ERR_UPLOAD_SERVICE_REPLY unless each file asked for has exactly one address per part, and nothing else came. The same
 * error is thrown when a place comes twice or an address names another part in its query. Throws as `checkGivenId` does for the id of a
 * file, and as `checkAddress` does for an address that must not be used.
 */
export function checkAddressed(
  asked: readonly PlannedFile[],
  given: readonly AddressedFile[],
  protocol: Pick<Protocol, 'request'>,
  rules: AddressRules,
  ownerOf: PlaceOwners = new Map(),
): void {
  if (given.length !== asked.length)
    wrong(`Addresses came for ${given.length} files, and ${asked.length} were asked for.`)
  for (const { serverFileId = 0 } of given) checkGivenId(serverFileId)
  const byIndex = new Map(given.map((file) => [file.fileIndex, file.addresses]))
  const seen = new Set<string>()
  for (const plan of asked) {
    const { fileIndex, name, partCount } = plan
    const addresses = byIndex.get(fileIndex) ?? []
    if (addresses.length !== partCount)
      wrong(`${addresses.length} addresses came for the ${partCount} parts of ${name}.`)
    // This visits holes too, which `forEach` would skip.
    for (const [index, address] of addresses.entries()) {
      checkAddress(address, rules)
      const place = placeOf(protocol, plan, address, index)
      // With one place for two parts, one would overwrite the other.
      if (seen.has(place) || (ownerOf.get(place) ?? fileIndex) !== fileIndex)
        wrong(`The same address came twice; the second time for ${name}.`)
      seen.add(place)
      if (index === 0) ownerOf.set(place, fileIndex)
      // S3 and its followers name the part in the query.
      const said = /[?&]partNumber=([^&#]*)/.exec(address)?.[1]
      if (Number(said ?? index + 1) !== index + 1)
        wrong(`The addresses for ${name} do not carry the part numbers 1 to ${partCount}, once each.`)
    }
  }
}
