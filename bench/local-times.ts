import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { apiClient } from '../sandbox/demo/api-client.ts'
import { type LocalBerth, startLocalBerth } from '../sandbox/local/local-berth.ts'

const idleTries = 10
const offerTries = 300

/** Times of the whole local Berth, with real SSH, shells and engines, on a cloud that boots at once. */
export const localTimes = async () => {
  const data = mkdtempSync(join(tmpdir(), 'berth-bench-'))
  const quiet = () => {}
  const berth = await startLocalBerth({
    port: 0,
    data,
    speed: 1,
    cloudTimings: { hotaisle: { vmBootMs: 0, installMs: 0, resetMs: 0 } },
    log: { info: quiet, warn: quiet, error: quiet, alarm: quiet, metric: quiet },
  })
  // What one key may ask for is not what is measured.
  berth.context.settings.api.requests_per_second = 1000
  try {
    return { requestToIdle: await requestToIdle(berth), offers: await offerTimes(berth) }
  } finally {
    await berth.stop()
    rmSync(data, { recursive: true, force: true })
  }
}

const requestToIdle = async (berth: LocalBerth) => {
  const api = apiClient(berth)
  const times: number[] = []
  for (let tries = 0; tries < idleTries; tries++) {
    const start = performance.now()
    const { id } = await api.rent({ gpu: 'MI300X:1', claim: false, reuse: false })
    while ((await api.show(id)).status !== 'idle') await new Promise((resolve) => setTimeout(resolve, 20))
    times.push(performance.now() - start)
    await fetch(`${berth.url}/instances/${id}?force=true`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${berth.apiKey}` },
    })
    while ((await api.show(id)).status !== 'terminated')
      await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { tries: idleTries, medianMs: percentile(times, 50), p90Ms: percentile(times, 90) }
}

/** `GET /offers` against the same two calls to the cloud without Berth round them. */
const offerTimes = async (berth: LocalBerth) => {
  const hotaisle = berth.clouds?.hotaisle
  if (!hotaisle) throw new Error('the bench needs the simulated clouds')
  const cloud = async () => {
    const lists = ['virtual_machines', 'bare_metal'].map(async (kind) => {
      const url = `${hotaisle.url}/teams/${hotaisle.team}/${kind}/available/`
      const response = await fetch(url, { headers: { authorization: `Token ${hotaisle.apiKey}` } })
      return z.array(z.unknown()).parse(await response.json())
    })
    await Promise.all(lists)
  }
  const offers = () => apiClient(berth).offers('gpu=MI300X')
  for (let warm = 0; warm < 50; warm++) await Promise.all([await cloud(), await offers()])
  const [own, all] = [await timesOf(cloud), await timesOf(offers)]
  return {
    tries: offerTries,
    cloudP50Ms: percentile(own, 50),
    offersP50Ms: percentile(all, 50),
    cloudP99Ms: percentile(own, 99),
    offersP99Ms: percentile(all, 99),
    overCloudP99Ms: rounded(percentile(all, 99) - percentile(own, 99)),
  }
}

const timesOf = async (call: () => Promise<unknown>): Promise<number[]> => {
  const times: number[] = []
  for (let tries = 0; tries < offerTries; tries++) {
    const start = performance.now()
    await call()
    times.push(performance.now() - start)
  }
  return times
}

const percentile = (times: number[], percent: number): number => {
  const sorted = [...times].sort((a, b) => a - b)
  return rounded(sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0)
}

const rounded = (value: number) => Math.round(value * 10) / 10
