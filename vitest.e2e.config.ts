import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

/** `npm run test:e2e`: whole processes for minutes: killed at random, read to their end, and every command of the docs. */
export default defineConfig({
  test: { ...base.test, include: ['test/e2e/**/*.test.ts'], exclude: [] },
})
