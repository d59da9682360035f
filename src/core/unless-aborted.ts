// Waiting for what cannot be aborted itself, such as a function of the host.

/** Settles as the promise does; rejects with the signal's reason when it fires first. Leaves no listener behind. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    void promise.then(resolve, reject).then(() => signal.removeEventListener('abort', leave))
  })
}
