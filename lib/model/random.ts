/** The one source of randomness, handed in so that a simulation can seed it. */
export interface Random {
  /** So many random lower-case hexadecimal digits. */
  hex(digits: number): string
}
