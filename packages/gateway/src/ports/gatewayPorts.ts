import type { AdminStore } from './adminStore.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import type { ObjectSigner } from './objectSigner.ts';
import type { RateLimitStore } from './rateLimitStore.ts';
import type { RelayerStore } from './relayerStore.ts';
import type { RequestChanges } from './requestChanges.ts';
import type { RequestCrypto } from './requestCrypto.ts';
import type { RequestStore } from './requestStore.ts';
import type { TokenVerifier } from './tokenVerifier.ts';

/** A part that answers whole requests below a path of its own, like the local object store. */
export interface Mount {
  /** Begins and ends with a slash. */
  readonly prefix: string;
  readonly fetch: (request: Request) => Promise<Response>;
  /** Whether the API's CORS and security headers are added to its answers. */
  readonly withApiHeaders: boolean;
  /** Whether it is answered to this machine and private networks alone. */
  readonly localOnly?: boolean;
}

/** A report of one of the operator's other programs: its status, or why there is none. */
export interface ProgramReport {
  readonly name: string;
  readonly status?: Readonly<Record<string, unknown>>;
  readonly error?: string;
}

/** The use of a bound on strangers' memory or connections. */
export interface BudgetUse {
  /** Like `bodies`. */
  readonly name: string;
  readonly used: number;
  /** Where it ends; absent: there is no bound. */
  readonly most?: number;
  /** How often something was ended to make room. */
  readonly ended: number;
}

/** The disk that records and objects are on. */
export interface DiskUse {
  readonly freeBytes: number;
  /** Below it nothing new is taken; 0: no bound. */
  readonly leastFreeBytes: number;
}

/** Decides who may still add to the pending requests. */
export interface PendingSpace {
  /**
   * Makes room for a request of a peer. @returns who holds it, as the store counts it: the peer, and its network if it has an IPv6 address
   * @throws ApiError NO_SPACE
   */
  admit(peer: string, bytes: number): Promise<readonly string[]>;
}

/** A file of the API reference. */
export interface DocsAsset {
  readonly contentType: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
}

/** Everything the gateway needs from outside. */
export interface GatewayPorts {
  readonly requests: RequestStore;
  readonly changes: RequestChanges;
  readonly relayers: RelayerStore;
  readonly admin: AdminStore;
  readonly rateLimits: RateLimitStore;
  readonly signer: ObjectSigner;
  readonly tokens: TokenVerifier;
  readonly crypto: RequestCrypto;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** UUIDs of version 7. */
  readonly newId: () => string;
  /** Whether the store has room for new requests. */
  readonly hasSpace: () => boolean;
  /** Decides whose requests may still be added to the pending ones; absent: there is no bound. */
  readonly pendingSpace?: PendingSpace | undefined;
  /** Resolves when the stores answer. @throws DependencyUnavailableError */
  readonly checkReady: () => Promise<void>;
  /** The OpenAPI document as JSON. */
  readonly openApi: () => Promise<string | Uint8Array<ArrayBuffer>>;
  /** A file of the API reference by its name; undefined: there is none. */
  readonly docsAsset: (name: string) => Promise<DocsAsset | undefined>;
  /** A file of the console by its name; undefined: there is none. */
  readonly consoleAsset: (name: string) => Promise<DocsAsset | undefined>;
  /** Reads the statuses of the operator's other programs. @param about - the request or payment that they are asked about, too */
  readonly readPrograms: (about?: string) => Promise<readonly ProgramReport[]>;
  /** Whether answers that have been written, and not read yet, leave room for more; absent: there is no bound. */
  readonly hasAnswerRoom?: (() => boolean) | undefined;
  /** Reads the use of the bounds on strangers' memory and connections. */
  readonly readBudgets: () => readonly BudgetUse[];
  /** How full the disk is; undefined: nothing of the service is on one of its own. */
  readonly readDisk: () => DiskUse | undefined;
  readonly mounts: readonly Mount[];
}
