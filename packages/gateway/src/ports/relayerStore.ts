/** A whitelisted relayer. Times are milliseconds since the epoch. */
export interface RelayerRecord {
  /** EIP-55 checksummed. */
  readonly address: string;
  readonly label?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Port: the whitelist. Addresses are compared without regard to case. Throws `DependencyUnavailableError` only. */
export interface RelayerStore {
  /** Adds a relayer, or replaces the label of a known one (an absent label removes it); `createdAt` is kept. */
  put(relayer: { readonly address: string; readonly label?: string; readonly now: number }): Promise<RelayerRecord>;
  /** Removes a relayer; an unknown one is no error. */
  remove(address: string): Promise<void>;
  has(address: string): Promise<boolean>;
  /** All relayers, oldest first. */
  list(): Promise<readonly RelayerRecord[]>;
}
