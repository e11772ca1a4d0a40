import { crc32, deflateRawSync } from 'node:zlib'

export type Packed = { name: string; packed: Buffer; crc: number; size: number }

/** One file of an archive, or of several: compressing takes longest. */
export const pack = (name: string, content: Buffer): Packed => ({
  name,
  packed: deflateRawSync(content),
  crc: crc32(content),
  size: content.length,
})

/**
 * A zip archive of `files`, the same for the same content: without times, so that what has not changed is not deployed
 * again. Source: PKWARE's APPNOTE 6.3, 4.3.7, 4.3.12 and 4.3.16.
 */
export const zip = (files: Packed[]): Buffer => {
  const local: Buffer[] = []
  const central: Buffer[] = []
  let at = 0
  for (const { name, packed, crc, size } of files.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = Buffer.from(name)
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(20, 0)
    // Names in UTF-8; deflated; 1 January 1980, the first day that zip knows.
    shared.writeUInt16LE(0x0800, 2)
    shared.writeUInt16LE(8, 4)
    shared.writeUInt16LE(0x21, 8)
    shared.writeUInt32LE(crc, 10)
    shared.writeUInt32LE(packed.length, 14)
    shared.writeUInt32LE(size, 18)
    shared.writeUInt16LE(path.length, 22)
    local.push(Buffer.from('PK\x03\x04'), shared, path, packed)
    const more = Buffer.alloc(14)
    // A plain file that all may read, 0644, made on Unix: Lambda runs it as another user.
    more.writeUInt32LE(0o100644 * 0x10000, 6)
    more.writeUInt32LE(at, 10)
    central.push(Buffer.from('PK\x01\x02'), Buffer.from([20, 3]), shared, more, path)
    at += 30 + path.length + packed.length
  }
  const index = Buffer.concat(central)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(files.length, 4)
  end.writeUInt16LE(files.length, 6)
  end.writeUInt32LE(index.length, 8)
  end.writeUInt32LE(at, 12)
  return Buffer.concat([...local, index, Buffer.from('PK\x05\x06'), end])
}
