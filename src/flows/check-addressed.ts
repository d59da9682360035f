// Whether addresses fit what they were asked for, whoever gave them: the service, a protocol of the host, its renewAddresses. Judged
// before they are journalled: one part would be stored in another's place, and a count that is wrong makes a journal unreadable.

import { checkAddress, type AddressRules } from '../core/address/address-policy.ts'
import type { AddressedFile, PlannedFile, Protocol } from '../core/ports.ts'
import { wrong } from '../protocols/match-addresses.ts'

/** Files by their first address, which may not come for another one in a later batch. */
export type AddressOwners = Map<string | undefined, number>

/**
 * Throws ERR_UPLOAD_SERVICE_REPLY unless each file that was asked for has one address per part, and nothing else came; an address
 * that comes twice, or names another part in its query, is the same error. Throws as `checkAddress` for one that may not be used.
 * Where the order is `next`, parts may share an address: the request itself says where its bytes go.
 */
export function checkAddressed(
  asked: readonly PlannedFile[],
  given: readonly AddressedFile[],
  { traits }: Pick<Protocol, 'traits'>,
  rules: AddressRules,
  ownerOf: AddressOwners = new Map(),
): void {
  if (given.length !== asked.length)
    wrong(`Addresses came for ${given.length} files, and ${asked.length} were asked for.`)
  const byIndex = new Map(given.map((file) => [file.fileIndex, file.addresses]))
  const seen = new Set<string>()
  for (const { fileIndex, name, partCount } of asked) {
    const addresses = byIndex.get(fileIndex) ?? []
    if (addresses.length !== partCount)
      wrong(`${addresses.length} addresses came for the ${partCount} parts of ${name}.`)
    addresses.forEach((address, index) => {
      checkAddress(address, rules)
      // One address for two would store one in the other's place.
      const isTwice = seen.has(address) || (ownerOf.get(address) ?? fileIndex) !== fileIndex
      if (isTwice && traits.order === 'any') wrong(`The same address came twice; the second time for ${name}.`)
      seen.add(address)
      // S3 and what follows it name the part in the query.
      const said = /[?&]partNumber=([^&#]*)/.exec(address)?.[1]
      if (said !== undefined && Number(said) !== index + 1)
        wrong(`The addresses for ${name} do not carry the part numbers 1 to ${partCount}, once each.`)
    })
    ownerOf.set(addresses[0], fileIndex)
  }
}
