// An Uppy uploader plugin: files dropped on Uppy's dashboard are sent by mocap-uplink's engine. One batch of Uppy is one upload,
// so that a delivery of many clips is one session of the service. Files of an earlier, unfinished upload resume that one instead.

import {
  BasePlugin,
  type Body,
  type DefinePluginOpts,
  type Meta,
  type PluginOpts,
  type Uppy,
  type UppyFile,
} from '@uppy/core'
import { blobSource, type Upload, type UploadFile, type UploadFileStatus } from 'mocap-uplink/browser'

export interface MocapUplinkUploaderOptions<M extends Meta, B extends Body> extends PluginOpts {
  /**
   * Starts the upload: `(files) => uplink.uploadVideos({ files, … })`. `uppyFiles` are the same files as Uppy's objects, with their meta.
   */
  readonly begin: (files: readonly UploadFile[], uppyFiles: readonly UppyFile<M, B>[]) => Upload
  /**
   * Resumes the earlier uploads to which these files belong, if nothing of an upload is then missing. The other files
   * begin anew. A file that an upload misses may also be in `beside`: these have failed and are still shown.
   */
  readonly resume?: (files: readonly File[], beside: readonly File[]) => Promise<readonly ResumedUpload[]>
}

export interface ResumedUpload {
  readonly upload: Upload
  /** The files that were added again, by their index in the upload. */
  readonly files: ReadonlyMap<number, File>
}

/** Uppy's files by their index in the upload. */
type Batch<M extends Meta, B extends Body> = ReadonlyMap<number, UppyFile<M, B>>

/** Uppy takes no more news of a file that has reached 100 %, so it is told less until the file is confirmed. */
const MOST_BEFORE_CONFIRMED = 0.99

export class MocapUplinkUploader<M extends Meta, B extends Body> extends BasePlugin<
  DefinePluginOpts<MocapUplinkUploaderOptions<M, B>, never>,
  M,
  B
> {
  readonly #active = new Set<Upload>()
  /** Settles when the search for earlier uploads is over. A click during the search waits for the uploads that it finds. */
  #begun: Promise<unknown> = Promise.resolve()

  constructor(uppy: Uppy<M, B>, options: MocapUplinkUploaderOptions<M, B>) {
    super(uppy, options)
    this.id = options.id ?? 'MocapUplinkUploader'
    this.type = 'uploader'
  }

  override install(): void {
    // The files of a session end together, so a single one cannot be cancelled while it is under way.
    this.#setCapabilities({ resumableUploads: true, individualCancellation: false })
    this.uppy.addUploader(this.#upload)
    this.uppy.on('pause-all', this.#pause)
    this.uppy.on('resume-all', this.#resume)
    this.uppy.on('cancel-all', this.#cancel)
    this.uppy.on('upload-pause', this.#pauseOne)
  }

  override uninstall(): void {
    this.#setCapabilities({ resumableUploads: false, individualCancellation: true })
    this.uppy.removeUploader(this.#upload)
    this.uppy.off('pause-all', this.#pause)
    this.uppy.off('resume-all', this.#resume)
    this.uppy.off('cancel-all', this.#cancel)
    this.uppy.off('upload-pause', this.#pauseOne)
  }

  #setCapabilities(changed: { readonly resumableUploads: boolean; readonly individualCancellation: boolean }): void {
    const { capabilities } = this.uppy.getState()
    this.uppy.setState({ capabilities: { ...capabilities, ...changed } })
  }

  readonly #pause = (): void => this.#toAll((upload) => upload.pause())
  readonly #resume = (): void => this.#toAll((upload) => upload.resume())
  /**
   * Uppy does not ask the user first. Files that are already confirmed stay confirmed. An upload of which nothing is left to give
   * up just ends, so that its failed files can still be resumed.
   */
  readonly #cancel = (): void =>
    this.#toAll((upload) => {
      const { filesConfirmed, filesFailed, filesTotal } = upload.progress()
      const isOver = filesTotal > 0 && filesConfirmed + filesFailed === filesTotal
      if (!isOver) void upload.discard()
    })
  #toAll(act: (upload: Upload) => void): void {
    void this.#begun.then(() => this.#active.forEach(act))
  }
  /** Pausing one file pauses the whole delivery, and the dashboard shows it so. */
  readonly #pauseOne = (_file: unknown, isPaused: boolean): void => {
    if (isPaused) this.uppy.pauseAll()
    else this.uppy.resumeAll()
  }

  /** Uppy calls this with a new batch, or with the failed files for a retry. It settles when the batch has ended. */
  readonly #upload = async (fileIds: string[]): Promise<void> => {
    const batch = this.uppy.getFilesByIds(fileIds)
    if (batch.length === 0) return
    this.uppy.emit('upload-start', batch)
    const beginning = this.#begin(batch)
    this.#begun = Promise.all([this.#begun, beginning])
    await Promise.all(await beginning)
  }

  /** Begins the uploads of a batch. Each returned promise settles when its upload has ended. */
  async #begin(batch: readonly UppyFile<M, B>[]): Promise<readonly Promise<void>[]> {
    // A retry of one file includes those that failed with it, because their upload resumes as a whole.
    const failed = this.uppy.getFiles().filter(({ error }) => error != null)
    const shown = new Map([...batch, ...failed].map((file) => [file.data, file]))
    const [files, beside] = [batch, failed].map((of) =>
      of.map(({ data }) => data).filter((data) => data instanceof File),
    )
    // Without a journal nothing is known of an earlier visit, and everything begins anew.
    const earlier = (await this.opts.resume?.(files ?? [], beside ?? []).catch(() => undefined)) ?? []
    const runs = earlier.map(({ upload, files: taken }) => {
      const own = [...taken].flatMap(([fileIndex, data]) => {
        const file = shown.get(data)
        shown.delete(data)
        return file === undefined ? [] : [[fileIndex, file] as const]
      })
      this.#clearErrors(own.map(([, file]) => file).filter((file) => failed.includes(file)))
      return this.#follow(new Map(own), () => upload)
    })
    const fresh = batch.filter(({ data }) => shown.has(data))
    if (fresh.length > 0)
      runs.push(this.#follow(new Map(fresh.entries()), () => this.opts.begin(fresh.map(toUploadFile), fresh)))
    return runs
  }

  /** Clears errors as Uppy does for the file whose retry button was clicked. */
  #clearErrors(files: readonly UppyFile<M, B>[]): void {
    if (files.length === 0) return
    for (const { id } of files) this.uppy.setFileState(id, { error: null, isPaused: false })
    this.uppy.emit(
      'upload-start',
      files.map((file) => this.#current(file)).filter((file) => file !== undefined),
    )
  }

  async #follow(batch: Batch<M, B>, begin: () => Upload): Promise<void> {
    const told = new Set<number>()
    const tellFailed = (fileIndex: number, { name, message }: { readonly name: string; readonly message: string }) => {
      if (told.has(fileIndex)) return
      told.add(fileIndex)
      this.uppy.emit('upload-error', this.#current(batch.get(fileIndex)), { name, message })
    }
    const tellFile = (file: UploadFileStatus): void => {
      if (file.state === 'failed') tellFailed(file.fileIndex, { name: 'UploadError', message: messageOf(file) })
      if (file.state !== 'confirmed' || told.has(file.fileIndex)) return
      told.add(file.fileIndex)
      const response = { status: 200, bytesUploaded: file.bytes }
      this.uppy.emit('upload-success', this.#current(batch.get(file.fileIndex)), response)
    }

    let upload: Upload | undefined
    const own = (): readonly UploadFileStatus[] => upload?.files().filter(({ fileIndex }) => batch.has(fileIndex)) ?? []
    try {
      upload = begin()
      this.#active.add(upload)
      const startedAt = Date.now()
      // Of an earlier upload, some may be confirmed.
      own().forEach(tellFile)
      upload.on('file', (file) => batch.has(file.fileIndex) && tellFile(file))
      upload.on('progress', () => {
        for (const file of own())
          if (!told.has(file.fileIndex)) this.#tellProgress(batch.get(file.fileIndex), file, startedAt)
      })
      upload.on('waiting', ({ who, untilMs }) => {
        // Told at each try. One notice at a time, or Uppy would stack them.
        if (this.uppy.getState().info.length > 0) return
        const what = navigator.onLine ? `The ${who} is not available` : 'There is no network'
        const next = untilMs === undefined ? 'now' : `at ${new Date(untilMs).toLocaleTimeString()}`
        this.uppy.info(`${what}. The next try is ${next}.`, 'warning', 5_000)
      })
      await upload.done()
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error))
      const isCancelled = upload?.state === 'cancelled'
      // A file may have been confirmed before the delivery failed.
      own().forEach(tellFile)
      if (!isCancelled) batch.forEach((_file, fileIndex) => tellFailed(fileIndex, failure))
    } finally {
      own().forEach(tellFile)
      if (upload !== undefined) this.#active.delete(upload)
    }
  }

  #tellProgress(file: UppyFile<M, B> | undefined, { sentBytes, bytes }: UploadFileStatus, uploadStarted: number) {
    const bytesUploaded = Math.min(sentBytes, Math.floor(bytes * MOST_BEFORE_CONFIRMED))
    this.uppy.emit('upload-progress', this.#current(file), { uploadStarted, bytesUploaded, bytesTotal: bytes })
  }

  /** The current object of a file, because Uppy replaces its files whenever they change. Undefined after a cancel. */
  #current(file: UppyFile<M, B> | undefined): UppyFile<M, B> | undefined {
    return file === undefined ? undefined : (this.uppy.getState().files[file.id] as UppyFile<M, B> | undefined)
  }
}

function toUploadFile<M extends Meta, B extends Body>({ name, data }: UppyFile<M, B>): UploadFile {
  if (!(data instanceof Blob)) throw new Error(`${name} is not on this device.`)
  // A File keeps its modification time. A file that was edited on the dashboard is a Blob.
  return { source: data instanceof File && data.name === name ? blobSource(data) : blobSource(name, data) }
}

function messageOf({ name, error }: UploadFileStatus): string {
  return error?.message ?? `${name} was not uploaded.`
}
