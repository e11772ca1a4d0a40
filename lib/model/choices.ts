/**
 * Words of which one is to be chosen. They stand apart from the schemas that are made of them, so that help and
 * completion can name them without loading a schema library.
 */
export const backendTypes = ['hotaisle', 'oci'] as const
export const hardwareChecks = ['enforce', 'warn', 'off'] as const
export const keyRoles = ['operator', 'viewer'] as const
export const statuses = ['pending', 'provisioning', 'idle', 'busy', 'terminating', 'terminated'] as const
