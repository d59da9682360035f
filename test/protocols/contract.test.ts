// The protocols of the product, held to the contract: each against a far end that shares no code with it.

import { md5Hasher } from '../../src/adapters/node/hash/md5-hasher.ts'
import { undiciTransport } from '../../src/adapters/node/http/undici-transport.ts'
import { createServiceClient } from '../../src/client/service-client.ts'
import { captureSession } from '../../src/protocols/capture-session.ts'
import { s3Multipart } from '../../src/protocols/s3-multipart.ts'
import { videoSession } from '../../src/protocols/video-session.ts'
import { protocolContract } from '../../src/testing/protocol-contract.ts'
import { startIndependentService } from '../helpers/independent-service.ts'
import { hastyClock } from '../../src/testing/hasty-clock.ts'
import { startScriptedS3 } from '../helpers/scripted-s3.ts'
import { SMALL } from './s3-rig.ts'

async function startService() {
  const service = await startIndependentService({ minPartBytes: 1, addressLifetimeSeconds: 3_600 })
  const transport = undiciTransport()
  const client = createServiceClient({
    ...{ transport, clock: hastyClock(), random: () => 0.01 },
    ...{ baseUrl: service.url, credentials: { apiKey: service.apiKey } },
  })
  const close = async () => {
    await transport.close()
    await service.close()
  }
  return { service, transport, client, close, credentials: [service.apiKey, service.token] }
}

protocolContract('videoSession', async () => {
  const { service, transport, client, close, credentials } = await startService()
  const protocol = videoSession({
    ...{ client, movementTypeId: 1, playerId: 'p-17', sessionDate: '2026-11-20', sessionTypeId: 2 },
    unitLimits: SMALL,
  })
  return {
    ...{ protocol, transport, close, credentials, partSizeBytes: 1_000 },
    async stored(name) {
      const file = service.storedFiles().find(({ fileName }) => fileName === name)
      return file?.isConfirmed === true ? service.contentOf(name) : undefined
    },
    isOpen: async (sessionId) => !service.records.cancelledSessionIds.includes(String(sessionId)),
  }
})

protocolContract('captureSession', async () => {
  const { service, transport, client, close, credentials } = await startService()
  const protocol = captureSession({
    ...{ client, orgId: 'org-1', mocapTypeId: 67, sessionDate: '2026-11-20', sessionTypeId: 2, frameRate: 240 },
    batchSize: 3,
  })
  // The kind of the files is checked by the far end; names of this contract that are no videos get the ending there.
  const named = {
    ...protocol,
    register: (...[sessionId, files, options]: Parameters<NonNullable<typeof protocol.register>>) =>
      protocol.register!(
        sessionId,
        files.map((file) => ({ ...file, name: videoName(file.name) })),
        options,
      ),
  }
  return {
    ...{ protocol: named, transport, close, credentials },
    stored: async (name) => service.contentOf(videoName(name)),
    isOpen: async () => true,
  }
})

function videoName(name: string): string {
  return /\.(?:mp4|mov)$/.test(name) ? name : `${name}.mov`
}

protocolContract('s3Multipart', async () => {
  const s3 = await startScriptedS3()
  const transport = undiciTransport()
  const protocol = s3Multipart({
    ...{ transport, clock: hastyClock(), random: () => 0.01, hasher: md5Hasher(), unitLimits: SMALL },
    sign: (request) => Promise.resolve(s3.sign(request)),
  })
  return {
    ...{ protocol, transport, credentials: [], partSizeBytes: 1_000 },
    stored: async (name) => s3.objects.get(name)?.bytes,
    isOpen: async () => s3.uploads.size > 0,
    async close() {
      await transport.close()
      await s3.close()
    },
  }
})
