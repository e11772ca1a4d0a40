/**
 * Oracle's own SDK parts: 2.8 MB, and most of a second before anything is asked. So they are loaded when OCI is first
 * called, and by nothing that does not call it.
 */
export const loadSdk = async () => {
  const [common, core, identity, marketplace] = await Promise.all([
    import('oci-common'),
    import('oci-core'),
    import('oci-identity'),
    import('oci-marketplace'),
  ])
  return { common, core, identity, marketplace }
}
export type Sdk = Awaited<ReturnType<typeof loadSdk>>
