/** A store as a contract suite is given it. */
export interface StoreUnderTest<S> {
  readonly store: S;
  /** Waits until lists show every write that has resolved; absent where they always do. */
  readonly catchUp?: () => Promise<void>;
  /** Another handle on the same data, as another process has it; absent: the store itself is used. */
  readonly openPeer?: () => Promise<S>;
  /** Cuts the store, and its peers, off from its data: from then on it does not answer. It is not used after that. */
  cutOff(): Promise<void>;
  /** Removes all that it made; also after `cutOff`. */
  dispose(): Promise<void>;
}

/** Makes a store that holds nothing yet. */
export type CreateStore<S> = () => Promise<StoreUnderTest<S>>;
