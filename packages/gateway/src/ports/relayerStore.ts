/** A whitelisted relayer. Times are milliseconds since the epoch. */
export interface RelayerRecord {
  /** EIP-55 checksummed. */
  readonly address: string;
  readonly label?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When an administrator suspended it: it is on the whitelist, and may not call. */
  readonly suspendedAt?: number;
  /** Why; there if `suspendedAt` is. */
  readonly suspendReason?: string;
}

/** Port: the whitelist. Addresses are compared without regard to case. Throws `DependencyUnavailableError` only. */
export interface RelayerStore {
  /** Adds a relayer, or replaces the label of a known one (an absent label removes it); `createdAt` and a suspension are kept. */
  put(relayer: { readonly address: string; readonly label?: string; readonly now: number }): Promise<RelayerRecord>;
  /** Removes a relayer; an unknown one is no error. */
  remove(address: string): Promise<void>;
  find(address: string): Promise<RelayerRecord | undefined>;
  /** Suspends a relayer, or replaces the reason of a suspended one. @returns undefined: it is not on the whitelist */
  suspend(suspension: {
    readonly address: string;
    readonly reason: string;
    readonly now: number;
  }): Promise<RelayerRecord | undefined>;
  /** Ends a suspension; without one nothing changes. @returns undefined: it is not on the whitelist */
  resume(resumption: { readonly address: string; readonly now: number }): Promise<RelayerRecord | undefined>;
  /** All relayers, oldest first. */
  list(): Promise<readonly RelayerRecord[]>;
}
