// Whether addresses fit what they were asked for, whoever gave them: the service, a protocol of the host, its renewAddresses. Judged
// before they are journalled: one part would be stored in another's place, and a count that is wrong makes a journal unreadable.

import { checkAddress, type AddressRules } from '../core/address/address-policy.ts'
import { UploadError } from '../core/errors.ts'
import type { AddressedFile, PlannedFile } from '../core/ports.ts'

/**
 * Throws ERR_UPLOAD_SERVICE_REPLY unless each file that was asked for has one address per part, and nothing else came; an address
 * that comes twice, or names another part in its query, is the same error. Throws as `checkAddress` for one that may not be used.
 */
export function checkAddressed(
  asked: readonly PlannedFile[],
  given: readonly AddressedFile[],
  rules: AddressRules,
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
      if (seen.has(address)) refuseTwice(name)
      seen.add(address)
      // S3 and what follows it name the part in the query.
      const said = /[?&]partNumber=([^&#]*)/.exec(address)?.[1]
      if (said !== undefined && Number(said) !== index + 1)
        wrong(`The addresses for ${name} do not carry the part numbers 1 to ${partCount}, once each.`)
    })
  }
}

/** One address for two would store one in the other's place. */
export function refuseTwice(name: string): never {
  return wrong(`The same address came twice; the second time for ${name}.`)
}

function wrong(message: string): never {
  throw new UploadError('ERR_UPLOAD_SERVICE_REPLY', `${message} None of them is used.`)
}
