/**
 * Imported by name, in a module of its own: a bundle hands over nothing but the default of a CommonJS package that is
 * imported dynamically.
 */
import * as common from 'oci-common'
import * as core from 'oci-core'
import * as identity from 'oci-identity'
import * as marketplace from 'oci-marketplace'

export { common, core, identity, marketplace }
