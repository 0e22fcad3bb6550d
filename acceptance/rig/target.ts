import type { Hex } from 'viem';
import { inject } from 'vitest';

/** A whitelisted relayer of this run, with a key made for it. */
export interface Relayer {
  readonly privateKey: Hex;
  /** With the letter case of EIP-55. */
  readonly address: Hex;
}

/** The gateway under test, and what this run may use of it. */
export interface Target {
  /** Base URL, without a trailing slash; it may hold a stage prefix. */
  readonly url: string;
  readonly adminKey: string;
  /** Name of this run: part of every chain name and label that it leaves. */
  readonly run: string;
  /** How far the gateway's clock is ahead of this machine's. */
  readonly clockAheadMs: number;
  /** Whitelisted for the run, removed when it ends. */
  readonly relayers: readonly Relayer[];
  /** Whether it gives tokens by `POST /dev/identity/token`. */
  readonly hasDevIssuer: boolean;
  /** Access tokens of different users, if there is no development issuer. */
  readonly tokens: readonly string[];
  /** Whether its answers carry `RateLimit`. */
  readonly isLimited: boolean;
  readonly maxBodyBytes: number;
  readonly maxBatchSize: number;
}

declare module 'vitest' {
  interface ProvidedContext {
    target: Target;
  }
}

/** The gateway that this run tests. */
export function readTarget(): Target {
  return inject('target');
}

/** One of the run's relayers, by its place in the pool. */
export function relayerAt(target: Target, place: number): Relayer {
  const relayer = target.relayers[place];
  if (relayer === undefined)
    throw new Error(`The run has ${target.relayers.length} relayers; there is no number ${place}.`);
  return relayer;
}
