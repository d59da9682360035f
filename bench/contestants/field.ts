// The contestants and the command that starts each. Each is a process of its own; all send the same files to the same server.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from '../measure/run-measured.ts'
import type { BenchSetting } from '../part.ts'
import type { Run } from '../report/result.ts'
import type { Job } from './job.ts'

/** The far end of a run. */
export interface Site {
  readonly storageOrigin: string
  readonly serviceOrigin: string
  /** The certificate to trust; present if the storage speaks TLS. */
  readonly certificateFile?: string
}

export interface Contestant {
  readonly name: string
  readonly isOurs: boolean
  readonly setting?: Run['setting']
  command(site: Site): Command
  /** What is sent: whole files and their bytes. The server must have counted as many. */
  readonly load: { readonly files: number; readonly bytes: number; readonly flow?: 'video' | 'capture' }
  /** The package that must be installed in bench/. */
  readonly rival?: string
}

/** What a contestant is to send. */
export interface Load {
  readonly job: Omit<Job, 'storageOrigin' | 'serviceOrigin' | 'face' | 'rivals'>
  readonly files: number
  readonly bytes: number
}

export interface Field {
  uplink(load: Load, naming?: Naming): Contestant
  /** `mocap-uplink video` as shipped, with a journal on disk. */
  commandLine(load: Load & { readonly stateDir: string }): Contestant
  curl(load: Load): Contestant
  tus(load: Load): Contestant
  libStorage(load: Load): Contestant
  bareUndici(load: Load, naming?: Naming): Contestant
  bareSmall(load: Load, naming?: Naming): Contestant
}

interface Naming {
  readonly name?: string
  readonly setting?: Run['setting']
}

export const OURS = 'mocap-uplink'
export const OUR_COMMAND = 'mocap-uplink video (command)'
export const CURL = 'curl -T'
export const TUS = 'tus-js-client'
export const LIB_STORAGE = '@aws-sdk/lib-storage'
export const BARE = 'bare undici loop'
export const UPPY = 'Uppy (@uppy/aws-s3)'
export const UPPY_5 = 'Uppy 5 (@uppy/aws-s3 5.1)'

/** The folder of a rival below bench/, if it is not named after the rival in node_modules. */
const FOLDERS: Readonly<Record<string, string>> = {
  [UPPY]: 'node_modules/@uppy/aws-s3',
  [UPPY_5]: 'uppy-5/node_modules/@uppy/aws-s3',
}
const folderOf = (root: string, rival: string): string =>
  join(root, 'bench', FOLDERS[rival] ?? join('node_modules', rival))

const RIVALS = [TUS, LIB_STORAGE, UPPY, UPPY_5] as const
/** The load generator for the service's calls. */
export const LOAD_GENERATOR = 'autocannon'
/** All packages that the first run installs in bench/. */
export const INSTALLED = [...RIVALS, LOAD_GENERATOR] as const

/** Contestant → its program. */
const PROGRAMS = { [OURS]: 'uplink', [TUS]: 'tus', [LIB_STORAGE]: 'lib-storage' }

export function createField({ root, dist, programs }: Pick<BenchSetting, 'root' | 'dist' | 'programs'>): Field {
  const face = join(dist, 'node.js')
  const rivals = join(root, 'bench', 'package.json')

  function onNode(program: string, { job, ...load }: Load, rest: Omit<Contestant, 'command' | 'load'>): Contestant {
    const script = join(programs, 'contestants', `${program}.js`)
    return {
      ...rest,
      load,
      command: ({ storageOrigin, serviceOrigin, certificateFile }) => ({
        program: process.execPath,
        args: [script, JSON.stringify({ ...job, storageOrigin, serviceOrigin, face, rivals } satisfies Job)],
        ...(certificateFile === undefined ? {} : { env: { NODE_EXTRA_CA_CERTS: certificateFile } }),
      }),
    }
  }

  return {
    uplink(load, { name = OURS, setting } = {}) {
      const flow = load.job.folder === undefined ? ('video' as const) : ('capture' as const)
      return onNode(PROGRAMS[OURS], { ...load, ...{ flow } }, named(name, true, setting))
    },
    commandLine: ({ job, stateDir, files, bytes }) => ({
      ...named(OUR_COMMAND, true, undefined),
      load: { files, bytes, flow: 'video' },
      command: ({ serviceOrigin }) => ({
        program: process.execPath,
        args: [
          ...[join(dist, 'cli', 'cli.js'), 'video', String(job.file), '--verify', job.verify ?? 'md5', '--json'],
          ...['--movement-type', '1', '--player', 'p-17', '--date', '2026-11-20', '--session-type', '2'],
        ],
        env: { MOCAP_BASE_URL: serviceOrigin, MOCAP_API_KEY: 'bench', MOCAP_STATE_DIR: stateDir },
      }),
    }),
    curl: ({ job, files, bytes }) => ({
      ...named(CURL, false, undefined),
      load: { files, bytes },
      command: ({ storageOrigin, certificateFile }) => ({
        program: 'curl',
        args: [
          ...['-sS', '-f', '-o', '/dev/null', '-w', '{"transferSeconds":%{time_total}}\\n', '-T', String(job.file)],
          ...(certificateFile === undefined ? [] : ['--cacert', certificateFile]),
          `${storageOrigin}/curl`,
        ],
      }),
    }),
    tus: (load) => onNode(PROGRAMS[TUS], load, { ...named(TUS, false, undefined), rival: TUS }),
    libStorage: (load) =>
      onNode(PROGRAMS[LIB_STORAGE], load, { ...named(LIB_STORAGE, false, undefined), rival: LIB_STORAGE }),
    bareUndici: (load, { name = BARE, setting } = {}) => onNode('bare-undici', load, named(name, false, setting)),
    bareSmall: (load, { name = BARE, setting } = {}) => onNode('bare-small', load, named(name, false, setting)),
  }
}

function named(
  name: string,
  isOurs: boolean,
  setting: Run['setting'],
): Pick<Contestant, 'name' | 'isOurs' | 'setting'> {
  return { name, isOurs, ...(setting === undefined ? {} : { setting }) }
}

/** Whether a rival is installed. */
export function isInstalled(root: string, rival: string): boolean {
  return existsSync(join(folderOf(root, rival), 'package.json'))
}

/** The versions of everything that takes part and is installed. */
export function versionsOf(root: string): Record<string, string> {
  const versionIn = (folder: string): string[] => {
    const path = join(folder, 'package.json')
    return existsSync(path) ? [(JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version] : []
  }
  const rivals = INSTALLED.map((name) => [name, versionIn(folderOf(root, name))] as const)
  const curl = firstLine('curl', '--version').split(' ')[1]
  const pairs = [
    [OURS, versionIn(root)] as const,
    ['undici', versionIn(join(root, 'node_modules', 'undici'))] as const,
    ['curl', curl === undefined ? [] : [curl]] as const,
    ...rivals,
  ]
  return Object.fromEntries(pairs.flatMap(([name, versions]) => versions.map((version) => [name, version])))
}

function firstLine(program: string, ...args: string[]): string {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\n')[0] ?? ''
  } catch {
    return ''
  }
}
