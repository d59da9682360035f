// Whether addresses fit what they were asked for, whoever gave them: the service, a protocol of the host, its renewAddresses. Judged
// before they are journalled: one part would be stored in another's place, and a count that is wrong makes a journal unreadable.

import { checkAddress, type AddressRules } from '../core/address/address-policy.ts'
import type { AddressedFile, PlannedFile, Protocol } from '../core/ports.ts'
import { wrong } from '../protocols/match-addresses.ts'

/** Files by the place of their first part, which may not be given to another one in a later batch. */
export type PlaceOwners = Map<string, number>

/** The stores whose signatures are known: AWS and CloudFront, Google, Azure. A token of another one may be all that names the object. */
const OF_STORE = /[?&](?:x-(?:amz|goog)-|\w+access\w*id=|key-pair-id=|sv=)/i
/** What each signing makes anew there. Whatever else is in a query may name the object. */
const OF_SIGNATURE = /[?&](?:x-(?:amz|goog)-[^=&]*|expires|signature|policy|sig|s[et]|sk[et])=[^&#]*/gi

/** Where the bytes of a part go, the first one by default: the address but for its signature, and what its request says beside it. */
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

/**
 * Throws ERR_UPLOAD_SERVICE_REPLY unless each file that was asked for has one address per part, and nothing else came; a place that
 * comes twice, or an address that names another part in its query, is the same error. Throws as `checkAddress` for one that may not
 * be used.
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
  const byIndex = new Map(given.map((file) => [file.fileIndex, file.addresses]))
  const seen = new Set<string>()
  for (const plan of asked) {
    const { fileIndex, name, partCount } = plan
    const addresses = byIndex.get(fileIndex) ?? []
    if (addresses.length !== partCount)
      wrong(`${addresses.length} addresses came for the ${partCount} parts of ${name}.`)
    // Holes included, which `forEach` passes over.
    for (const [index, address] of addresses.entries()) {
      checkAddress(address, rules)
      const place = placeOf(protocol, plan, address, index)
      // One place for two would store one instead of the other.
      if (seen.has(place) || (ownerOf.get(place) ?? fileIndex) !== fileIndex)
        wrong(`The same address came twice; the second time for ${name}.`)
      seen.add(place)
      if (index === 0) ownerOf.set(place, fileIndex)
      // S3 and what follows it name the part in the query.
      const said = /[?&]partNumber=([^&#]*)/.exec(address)?.[1]
      if (said !== undefined && Number(said) !== index + 1)
        wrong(`The addresses for ${name} do not carry the part numbers 1 to ${partCount}, once each.`)
    }
  }
}
