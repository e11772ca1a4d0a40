import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runningBerth } from './running-berth.ts'
import { startBetween } from './stage.ts'

const { api, at, berth, inProcess, rent, user } = runningBerth()

describe('what is rented', () => {
  test('is listed, shown with its history, claimed, released and stopped, by name', async () => {
    const { id } = await rent('--name', 'train-1', '--no-reuse')
    const ps = await berth(['ps'])
    expect(ps.out).toMatch(/^NAME +BACKEND +INSTANCE TYPE +PRICE +STATUS +HOLDER +COST +PREPAID UNTIL/)
    expect(ps.out).toMatch(/^train-1 +hotaisle \(us-michigan-1\) +vm-mi300x-1 +\$1.99 +busy +local +\$0.04 /m)
    const show = await berth(['show', 'train-1'])
    expect(show.out).toMatch(new RegExp(`^Id: +${id}$`, 'm'))
    expect(show.out).toContain('hardware as advertised')
    expect((await berth(['release', 'train-1'])).out).toContain(
      'train-1 is released. It is given back when idle',
    )
    expect((await berth(['ps', '--status', 'idle'])).out).toContain('train-1')
    const claim = await berth(['claim', id, '--hold', '2h'])
    expect(claim.out).toMatch(/^train-1 is yours \(local, held until /)
    const stop = await berth(['stop', 'train-1', '--force', '-y'])
    expect(stop.out).toContain('train-1 is being given back.')
    expect(stop.out).toContain('Forfeited: $0.04 was charged')
    await expect
      .poll(async () => (await berth(['ps', '--all', '--json'])).out)
      .toMatch(new RegExp(`${id}[\\s\\S]{0,80}"terminated"`))
    expect((await berth(['stop', id])).out).toContain('train-1 has ended already (terminated_by_user)')
  })

  test('inside prepaid time is stopped without force: nothing more is charged, and force says what it forfeits', async () => {
    await berth(['rent', '--gpu', 'MI300X:2', '--name', 'paid', '-y', '--no-reuse'])
    const asked = await berth(['stop', 'paid', '--force'])
    expect(asked).toMatchObject({ code: 2, out: '' })
    expect(asked.err).toContain('Nothing was stopped.')
    const { out } = await berth(['stop', 'paid'])
    expect(out).toMatch(
      /^Your use of paid has ended\. It is prepaid, so it is given back at \S+ \S+ UTC; nothing more is charged\./,
    )
    expect(out).toContain('berth stop paid --force')
    expect((await berth(['reservations'])).out).toMatch(/vm-mi300x-2 +\$3.98 +\$3.98 .* active$/m)
    await berth(['stop', 'paid', '--force', '-y'])
  })

  test('under one name twice is told apart by its ids', async () => {
    const ids = [
      await rent('--name', 'twin', '--no-reuse', '--detach'),
      await rent('--name', 'twin', '--no-reuse', '--detach'),
    ].map(({ id }) => id)
    const { code, err } = await berth(['show', 'twin'])
    expect(code).toBe(2)
    for (const id of ids) expect(err).toContain(id)
    for (const id of ids) await berth(['stop', id, '--force', '-y'])
  })

  test('under a name that nothing has ends with 3, and says which there are', async () => {
    await rent('--name', 'train-2', '--no-reuse', '--detach')
    const { code, err } = await berth(['show', 'trian'])
    expect(code).toBe(3)
    expect(err).toContain('There is no instance trian.')
    expect(err).toContain('train-2')
    await berth(['stop', 'train-2', '--force', '-y'])
  })
})

/** A folder in which `ssh` is a client of its own; behind it, where there is one, the system's. */
const folderWithSsh = () => {
  const folder = join(user.home, 'bin')
  mkdirSync(folder)
  symlinkSync(join(import.meta.dirname, 'ssh-client.ts'), join(folder, 'ssh'))
  symlinkSync(process.execPath, join(folder, 'node'))
  return folder
}

describe('berth ssh', () => {
  const own = folderWithSsh()
  const systems = (process.env.PATH ?? '').split(delimiter).find((folder) => existsSync(join(folder, 'ssh')))
  const clients = [
    ['a client made of ssh2', own],
    ...(systems === undefined ? [] : [["the system's ssh", systems]]),
  ]
  beforeAll(async () => {
    await rent('--name', 'host', '--no-reuse')
  })
  afterAll(() => berth(['stop', 'host', '--force', '-y']))

  test.each(clients)('runs a command on the machine by %s, and ends with its exit code', async (_, path) => {
    const words = ['ssh', 'host', '-i', user.keyFile, '--', 'echo on $(hostname) with $(nproc) CPUs; exit 7']
    const { code, out, err } = await inProcess(words, `${path}${delimiter}/usr/bin${delimiter}/bin`)
    expect({ code, out, err }).toMatchObject({
      code: 7,
      out: expect.stringMatching(/^on \S+ with (8|13) CPUs\n$/),
    })
  })

  test('enters a machine that was released and claimed again, by the key that the claim gave', async () => {
    await rent('--name', 'again', '--no-reuse')
    await berth(['release', 'again'])
    expect(await berth(['claim', 'again', '--hold', '1h'])).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^SSH key: \S+id_ed25519\.pub$/m),
    })
    const words = ['ssh', 'again', '-i', user.keyFile, '--', 'echo in']
    await expect
      .poll(() => inProcess(words, `${own}${delimiter}/usr/bin${delimiter}/bin`), { timeout: 20_000 })
      .toMatchObject({ code: 0, out: 'in\n' })
    await berth(['stop', 'again', '--force', '-y'])
  })

  test('says where to look when the machine does not let the key in', async () => {
    await rent('--name', 'closed', '--no-reuse', '--no-ssh-key')
    const words = ['ssh', 'closed', '-i', user.keyFile, '--', 'true']
    const { code, err } = await inProcess(words, `${own}${delimiter}/usr/bin${delimiter}/bin`)
    expect(code).toBe(255)
    expect(err).toContain('berth claim closed --ssh-key FILE.pub')
    await berth(['stop', 'closed', '--force', '-y'])
  })

  test('refuses a machine that shows another host key, with a warning', async () => {
    const between = await startBetween(api().url, (_, text) =>
      text.replaceAll(/SHA256:[\w+/]+/g, `SHA256:${'A'.repeat(43)}`),
    )
    const { code, out, err } = await berth(['ssh', 'host', '--', 'true'], at(between.url))
    await between.stop()
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain('WARNING: host is not the machine that Berth rented')
    expect(err).toContain(`SHA256:${'A'.repeat(43)}`)
    expect(err).toContain('nothing was sent')
  })

  test('says so where there is no ssh', async () => {
    const { code, err } = await berth(['ssh', 'host', '--', 'true'], { env: { PATH: user.folder } })
    expect(code).toBe(1)
    expect(err).toContain('There is no "ssh" on this machine.')
  })

  test('--json gives the address and the host key, checked', async () => {
    const { out } = await berth(['ssh', 'host', '--json'])
    expect(JSON.parse(out)).toMatchObject({
      username: 'hotaisle',
      hostKey: expect.stringMatching(/^ssh-ed25519 AAAA/),
    })
  })
})
