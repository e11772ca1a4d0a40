import { readFileSync, writeFileSync } from 'node:fs'
import { judgeFeeds } from '../../lib/backends/oci/catalogue.ts'
import { feed } from '../../lib/backends/oci/feed-rows.ts'
import type { KeptCatalogue } from '../../lib/model/catalogue.ts'

const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8'))

/** Rows of Oracle's two feeds as they were served, with the oddities that they have. */
export const feedCopy = { shapes: fixture('oci-shapes.json'), products: fixture('oci-products.json') }

/** When the copy of the feeds was made. */
const madeAt = Date.UTC(2026, 10, 30)

/** OCPUs, memory and GPUs: OCI's shape documentation (docs.oracle.com, Compute Shapes). */
const documented = [
  { name: 'VM.GPU.A10.1', ocpus: 15, memoryGb: 240, gpus: 1, totalGpuGb: 24, product: 'A10' },
  { name: 'BM.GPU.A10.4', ocpus: 64, memoryGb: 1024, gpus: 4, totalGpuGb: 96, product: 'A10' },
  { name: 'BM.GPU.L40S.4', ocpus: 112, memoryGb: 1024, gpus: 4, totalGpuGb: 192, product: 'L40S' },
  { name: 'BM.GPU.H200.8', ocpus: 112, memoryGb: 3072, gpus: 8, totalGpuGb: 1128, product: 'H200' },
]

/** US dollars per GPU and hour: Oracle's public price list (oracle.com/cloud/price-list, Compute - GPU). */
const documentedPrices = { A10: 2, L40S: 3.5, H200: 10 }

/** Per OCPU and hour, and per GB and hour, of the E4 shapes; from the same price list. */
const e4Prices = { B93113: 0.025, B93114: 0.0015 }

/** What ships: the copy of the feeds, and documented figures for shapes that the copy lacks. */
export const makeShippedCatalogue = (): KeptCatalogue => {
  const shapes = [...feed.parse(feedCopy.shapes).items, ...documented.map(shapeRowOf)]
  const prices = Object.entries({ ...documentedPrices, ...e4Prices })
  const products = [
    ...feed.parse(feedCopy.products).items,
    ...prices.map(([partNumber, dollars]) => productRowOf(partNumber, dollars)),
  ]
  return { madeAt, rows: judgeFeeds({ items: shapes }, { items: products }).shapes }
}

const shapeRowOf = ({ name, ocpus, memoryGb, gpus, totalGpuGb, product }: (typeof documented)[number]) => ({
  name,
  hidden: false,
  status: 'ACTIVE',
  allowPreemptible: false,
  bundleMemoryQty: memoryGb,
  gpuQty: gpus,
  gpuMemoryQty: totalGpuGb,
  processorType: { value: 'nvidia' },
  shapeType: { value: name.startsWith('VM.') ? 'vm' : 'bm' },
  subType: { value: 'gpu' },
  products: [{ partNumber: product, qty: ocpus, type: { value: 'ocpu' } }],
})

const productRowOf = (partNumber: string, value: number) => ({
  partNumber,
  billingModel: 'UCM',
  pricetype: 'HOUR',
  currencyCodeLocalizations: [{ currencyCode: 'USD', prices: [{ model: 'PAY_AS_YOU_GO', value }] }],
})

export const shippedFile = new URL('../../lib/backends/oci/shipped-catalogue.json', import.meta.url)

/** `node test/support/make-oci-catalogue.ts` writes the file that ships. */
if (import.meta.main) writeFileSync(shippedFile, `${JSON.stringify(makeShippedCatalogue(), null, 1)}\n`)
