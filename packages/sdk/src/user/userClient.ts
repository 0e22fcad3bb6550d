import type { RequestRecord } from '@prism-gateway/protocol';
import type { ForwarderLocation, SignedAction, WriteEntry } from '@prism-gateway/protocol/typed-data';
import type { GatewayClient } from '../requests/createGatewayClient.ts';
import type { CallOptions } from '../requests/getRequest.ts';
import type { WaitForAllOptions, WaitOptions } from '../requests/waitForRequest.ts';
import type { ActionInput } from './actionInput.ts';
import type { ChainReader } from './chainReader.ts';
import type { Submission, SubmitOptions, UserVerbs } from './createVerbs.ts';
import type { SignableTypedData, SignerSource } from './openSigner.ts';

/** Options of a user's client. */
export type UserClientOptions = {
  readonly gateway: GatewayClient;
  /** Chain of the requests, like `eip155:31337`. */
  readonly chainName: string;
  /** Chain id and address of the Forwarder: what signatures are bound to. */
  readonly domain: ForwarderLocation;
  /** Age in seconds past which the Forwarder takes no request; default 86400. */
  readonly maxAgeSeconds?: number | undefined;
  /** How the signer signs: with a key (the default), or as a contract wallet does (ERC-1271). */
  readonly signatures?: 'ecdsa' | 'erc1271' | undefined;
  /** For how long the chain's nonce is trusted, in milliseconds; default 30000. */
  readonly nonceTrustMs?: number | undefined;
} & SignerSource &
  (
    | {
        /** @returns the signer's forwarder nonce: `nonces(signer)` of the Forwarder */
        readonly readNonce: (signer: string) => Promise<bigint>;
      }
    | {
        /** A viem public client: to read the nonce with, and to ask a contract wallet which open requests it has signed. */
        readonly publicClient: ChainReader;
      }
  );

/** The gateway as a user sees it. */
export interface UserClient extends UserVerbs {
  /** Where the Forwarder is. */
  readonly domain: ForwarderLocation;
  /** The signer's address. A browser wallet may ask its user for leave. */
  getAddress(): Promise<string>;
  /** Signs and submits any action; the verbs are this by name. */
  submit<A extends SignedAction>(action: A, input: ActionInput<A>, options?: SubmitOptions): Promise<Submission<A>>;
  /** Signs one write to be handed to whoever gathers a multi-user batch; it takes the next nonce. */
  signWrite(
    input: ActionInput<'WRITE_DATA_FOR'>,
    options?: CallOptions,
  ): Promise<{ readonly entry: WriteEntry; readonly nonce: bigint }>;
  /** Signs other typed data of the same signer, such as a permit. @returns the signature as hex */
  signTypedData(typedData: SignableTypedData): Promise<string>;
  /** Waits for one of this user's requests; a failed one has its nonce looked after. */
  waitForRequest(requestId: string, options?: WaitOptions): Promise<RequestRecord>;
  /** Waits for several of this user's requests, as the gateway's client does; those that fail have their nonces looked after. */
  waitForRequests(requestIds: readonly string[], options?: WaitForAllOptions): Promise<RequestRecord[]>;
  /** Gives back the nonce of a `signWrite` whose entry nobody will submit. */
  releaseNonce(nonce: bigint): Promise<void>;
  /** Has the chain and the gateway asked for nonces before the next signature. */
  resyncNonces(): Promise<void>;
}
