import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // By `npm run test:e2e`.
    exclude: ['test/e2e/**'],
    // Some files mostly wait, so that one worker more than cores keeps two cores busy.
    maxWorkers: 3,
    // A file shares what its worker has loaded: the SDKs of two clouds cost more than most files' tests.
    isolate: false,
    // The log of deployed functions is made when it is first imported.
    env: { POWERTOOLS_LOG_LEVEL: 'SILENT' },
    // What is waited for comes; how soon depends on what else the cores do.
    expect: { poll: { timeout: 10_000 } },
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
