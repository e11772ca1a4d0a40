import { describe, expect, test } from 'vitest'
import { readInstance, runningBerth } from './running-berth.ts'
import { startBetween } from './stage.ts'

const { api, at, berth, named, rent, rentals, user } = runningBerth()

describe('berth offer', () => {
  test("prints dstack's table, with the minimum, to the column", async () => {
    const { code, out, err } = await berth(['offer', '--gpu', 'MI300X'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toBe(
      [
        '#  BACKEND                   RESOURCES                                             INSTANCE TYPE  PRICE   MINIMUM',
        '1  hotaisle (us-michigan-1)  cpu=x86:8 mem=224GB disk=12288GB gpu=MI300X:192GB:1   vm-mi300x-1    $1.99   $0.04 (1m)',
        '2  hotaisle (us-michigan-1)  cpu=x86:13 mem=224GB disk=12288GB gpu=MI300X:192GB:1  vm-mi300x-1    $1.99   $0.04 (1m)',
        '3  hotaisle (us-michigan-1)  cpu=x86:26 mem=448GB disk=12288GB gpu=MI300X:192GB:2  vm-mi300x-2    $3.98   $3.98 (1h)',
        '4  hotaisle (us-michigan-1)  cpu=x86:104 mem=2048GB disk=447GB gpu=MI300X:192GB:8  bm-mi300x-8    $27.12  $216.96 (8h)',
        '',
      ].join('\n'),
    )
  })

  test('says what is charged at least, where nothing of that is prepaid', async () => {
    const { out } = await berth(['offer', '--gpu', 'H100:8', '--region', 'eu-frankfurt-1', '--on-demand'])
    expect(out).toBe(
      [
        '#  BACKEND               RESOURCES                                          INSTANCE TYPE  PRICE   MINIMUM',
        '1  oci (eu-frankfurt-1)  cpu=x86:224 mem=2048GB disk=100GB gpu=H100:80GB:8  BM.GPU.H100.8  $80.00  $80.00 (once it runs)',
        '',
      ].join('\n'),
    )
  })

  test('has the columns of dstack alone where nothing has a minimum', async () => {
    const { out } = await berth(['offer', '--gpu', 'A10:1', '--region', 'eu-frankfurt-1', '--on-demand'])
    expect(out).toBe(
      [
        '#  BACKEND               RESOURCES                                       INSTANCE TYPE  PRICE',
        '1  oci (eu-frankfurt-1)  cpu=x86:30 mem=240GB disk=100GB gpu=A10:24GB:1  VM.GPU.A10.1   $2.00',
        '',
      ].join('\n'),
    )
  })

  test('is in colours on a terminal, and plain elsewhere', async () => {
    const colour = String.fromCharCode(27)
    const piped = await berth(['offer', '--gpu', 'MI300X:8'])
    expect(piped.out).not.toContain(colour)
    const { stream, text } = user.recorder()
    await berth(['offer', '--gpu', 'MI300X:8'], { out: Object.assign(stream, { isTTY: true }) })
    expect(text()).toContain(`${colour}[1mBACKEND`)
  })

  test('--json prints what the API answers', async () => {
    const { out } = await berth(['offer', '--gpu', 'MI300X:8', '--json'])
    expect(JSON.parse(out)).toMatchObject({
      offers: [{ instanceType: 'bm-mi300x-8', pricePerHour: 27.12, zones: [] }],
      errors: [],
    })
  })

  test('says why a backend is missing, and ends with 3 where nothing fits', async () => {
    const hotaisle = api().clouds?.hotaisle
    hotaisle?.faults.always('GET virtual_machines/available', { kind: 'status', status: 500 })
    hotaisle?.faults.always('GET bare_metal/available', { kind: 'status', status: 500 })
    try {
      const { code, out, err } = await berth(['offer', '--gpu', 'MI300X:8'])
      expect({ code, out }).toEqual({ code: 3, out: '' })
      expect(err).toContain('hotaisle is missing here: ')
      expect(err).toContain('No offer fits.')
    } finally {
      hotaisle?.faults.clear()
    }
  })
})

describe('berth rent', () => {
  test('asks before it spends: where nobody can be asked nothing is rented', async () => {
    const before = rentals()
    const { code, out, err } = await berth(['rent', '--gpu', 'MI300X:1'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('Nothing was rented.')
    expect(err).toContain('-y')
    expect(rentals()).toBe(before)
  })

  test('with -y says what it costs and what is prepaid, and follows it until it is ready', async () => {
    const { code, out, err } = await berth(['rent', '--gpu', 'MI300X:2', '--name', 'two', '-y'])
    expect(code).toBe(0)
    expect(err).toContain('The first costs $3.98 an hour. $3.98 is charged at once, and prepays 1h.')
    expect(err).toContain('It is given back when idle for 5m, not before the prepaid time is over.')
    expect(err).toContain('SSH key: ')
    expect(err).toMatch(/0:\d\d {2}rented vm-mi300x-2 [\s\S]*hardware as advertised[\s\S]*ready for local/)
    expect(out).toMatch(
      /^two is ready: vm-mi300x-2 at \$3.98 an hour, prepaid until \S+ \S+ UTC\.\nEnter it: berth ssh two/,
    )
  })

  test('takes an idle machine that fits, and says that nothing new is charged', async () => {
    await rent('--name', 'spare', '--no-claim')
    const before = rentals()
    const { code, err } = await berth(['rent', '--gpu', 'MI300X:1', '-y'])
    expect(code).toBe(0)
    expect(err).toContain('idle: i-')
    expect(err).toContain('The first is here already, idle: taking it charges nothing at once.')
    expect(rentals()).toBe(before)
    await berth(['stop', 'spare', '--force', '-y'])
  })

  test('whose answer gets lost asks again with the same key, and rents once', async () => {
    let cuts = 0
    const between = await startBetween(api().url, ({ method }, text) =>
      method === 'POST' && cuts++ < 2 ? 'cut' : text,
    )
    try {
      const words = ['rent', '--gpu', 'MI300X:1', '--name', 'once', '--no-reuse', '-y', '--detach']
      const { code, err } = await berth(words, at(between.url))
      expect(code).toBe(0)
      expect(err).toContain('it never rents twice')
      expect(err).toContain(
        'is rented, for up to $1.99 an hour, and up to $0.04 at once; --max-price sets a limit',
      )
      const keys = between.seen.filter(({ method }) => method === 'POST').map(({ key }) => key)
      expect(keys).toHaveLength(3)
      expect(new Set(keys).size).toBe(1)
      expect(await named('once')).toHaveLength(1)
    } finally {
      await between.stop()
      await berth(['stop', 'once', '--force', '-y'])
    }
  })

  test('that no answer ever reaches says how to go on without renting twice, and that way works', async () => {
    const between = await startBetween(api().url, ({ method }, text) => (method === 'POST' ? 'cut' : text))
    const words = ['rent', '--gpu', 'MI300X:1', '--name', 'later', '--no-reuse', '-y', '--detach']
    const lost = await berth(words, at(between.url))
    await between.stop()
    expect(lost.code).toBe(1)
    expect(lost.err).toContain('Whether anything was rented is not known.')
    const key = /--idempotency-key (\S+)/.exec(lost.err)?.[1] ?? ''
    const again = await berth([...words, '--idempotency-key', key, '--json'])
    expect(readInstance(again.out)).toMatchObject({ name: 'later' })
    expect(await named('later')).toHaveLength(1)
    await berth(['stop', 'later', '--force', '-y'])
  })

  test('left by Ctrl-C goes on, and says so', async () => {
    let press = () => {}
    const { code, err } = await berth(['rent', '--gpu', 'MI300X:1', '--name', 'left', '--no-reuse', '-y'], {
      onInterrupt: (callback) => {
        press = callback
        return () => {}
      },
      // While it is followed.
      pause: async () => press(),
    })
    expect(code).toBe(130)
    expect(err).toContain('The rental of left goes on')
    expect(err).toContain('berth stop left')
    expect(readInstance((await berth(['show', 'left', '--json'])).out).status).not.toMatch(/^termin/)
    await berth(['stop', 'left', '--force', '-y'])
  })

  test('left by Ctrl-C before there is an answer says how to go on with the request', async () => {
    let press = () => {}
    const ends: number[] = []
    const words = ['rent', '--gpu', 'MI300X:1', '--name', 'unsure', '--no-reuse', '-y', '--detach']
    const { err } = await berth(words, {
      onInterrupt: (callback) => {
        press = callback
        return () => {}
      },
      fetch: (input, init) => {
        if (init?.method === 'POST') press()
        return fetch(input, init)
      },
      endNow: (exitCode) => void ends.push(exitCode),
    })
    expect(ends).toEqual([130])
    expect(err).toContain('may have rented something. See: berth ps')
    expect(err).toMatch(/--idempotency-key berth-cli-\S+ goes on with it, and never rents twice/)
    await berth(['stop', 'unsure', '--force', '-y'])
  })

  test('that comes to nothing says why, what it cost, and ends with 4', async () => {
    api().clouds?.hotaisle.faults.nextMachine({ gpuCount: 0 })
    const { code, err } = await berth(['rent', '--gpu', 'MI300X:1', '--no-reuse', '-y'])
    expect(code).toBe(4)
    expect(err).toContain('ended before it was ready (hardware_mismatch)')
    expect(err).toContain('It has cost $0.0')
  })
})
