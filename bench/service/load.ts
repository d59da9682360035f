// Makes many calls at once with autocannon, which is installed in bench/: how many are answered each second, and how long one takes.

import { createRequire } from 'node:module'
import { join } from 'node:path'

import { LOAD_GENERATOR } from '../contestants/field.ts'
import { API_KEY } from './site.ts'

/** A kind of call. Its path and body may differ from call to call. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT'
  /** Called for each call. */
  next(): { readonly path: string; readonly body?: string; readonly isStorage?: boolean }
}

/** How much load: for a time, or a number of calls. */
export type Amount = { readonly seconds: number } | { readonly calls: number }

export interface LoadResult {
  readonly calls: number
  readonly perSecond: number
  /** ms, whole ones. */
  readonly p50Ms: number
  readonly p99Ms: number
}

/** The part of autocannon's result that we use. */
interface Generated {
  readonly '2xx': number
  readonly non2xx: number
  readonly errors: number
  readonly timeouts: number
  readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>
  readonly latency: { readonly p50: number; readonly p99: number }
}
type Generate = (options: object) => Promise<Generated>

const CONNECTIONS = 16

/** Calls all copies in turn over 16 connections. Rejects if a single call is answered with anything but 2xx. */
export async function generateLoad(
  root: string,
  urls: readonly string[],
  call: Call,
  amount: Amount,
): Promise<LoadResult> {
  const generate = createRequire(join(root, 'bench', 'package.json'))(LOAD_GENERATOR) as Generate
  const setupRequest = (request: object): object => {
    const { path, body, isStorage = false } = call.next()
    const headers = {
      ...(isStorage ? {} : { 'x-api-key': API_KEY }),
      ...(body === undefined || isStorage ? {} : { 'content-type': 'application/json' }),
    }
    return { ...request, path, headers, ...(body === undefined ? {} : { body }) }
  }
  const beganAtMs = performance.now()
  // autocannon checks only once a second whether it is done, so the end is the time of the last answer.
  let answeredAtMs = beganAtMs
  const onResponse = (): void => void (answeredAtMs = performance.now())
  const result = await generate({
    url: [...urls],
    connections: CONNECTIONS,
    timeout: 60,
    ...('seconds' in amount ? { duration: amount.seconds } : { amount: amount.calls }),
    requests: [{ method: call.method, path: '/', setupRequest, onResponse }],
  })
  const seconds = (answeredAtMs - beganAtMs) / 1_000
  if (result.non2xx + result.errors + result.timeouts > 0 || result['2xx'] === 0) {
    const statuses = Object.entries(result.statusCodeStats).map(([status, { count }]) => `${count} × ${status}`)
    throw new Error(
      `not every call succeeded: ${statuses.join(', ')}; ${result.errors} errors, ${result.timeouts} timeouts`,
    )
  }
  const calls = result['2xx']
  return { calls, perSecond: calls / seconds, p50Ms: result.latency.p50, p99Ms: result.latency.p99 }
}
