import type { KeyPair } from '../signing/createKeyPair.ts';

/** Calls to prepare: what is asked, and what they need from earlier phases. */
export type LoadSource = ReadSource | CreateSource | ClaimSource | ListSource | SignSource;

/** `GET /requests/{requestId}`, over the ids in turn. */
export interface ReadSource {
  readonly kind: 'read';
  readonly requestIds: readonly string[];
  readonly count: number;
}

/** `POST /requests`, each with a signature of its own. */
export interface CreateSource {
  readonly kind: 'create';
  readonly count: number;
}

/** `PATCH /requests/{requestId}` with `processing`, one for each id, by the relayers in turn. */
export interface ClaimSource {
  readonly kind: 'claim';
  readonly requestIds: readonly string[];
  readonly relayers: readonly KeyPair[];
}

/** `GET /requests?status=pending&limit=100`, by the relayers in turn. */
export interface ListSource {
  readonly kind: 'list';
  readonly count: number;
  readonly relayers: readonly KeyPair[];
  /** Absent: of all chains. */
  readonly chainName?: string;
}

/** `POST /storage/sign` for a put, each of another object, by the tokens in turn. */
export interface SignSource {
  readonly kind: 'sign';
  readonly count: number;
  readonly tokens: readonly string[];
}
