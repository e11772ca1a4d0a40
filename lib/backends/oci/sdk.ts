/**
 * Oracle's own SDK parts: 2.8 MB, and most of a second before anything is asked. So they are loaded when OCI is first
 * called, and by nothing that does not call it.
 */
export const loadSdk = () => import('./sdk-parts.ts')
export type Sdk = Awaited<ReturnType<typeof loadSdk>>
