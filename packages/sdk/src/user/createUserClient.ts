import type { ActionParams, RequestRecord } from '@prism-gateway/protocol';
import {
  createSignedParams,
  createTypedData,
  type SignedAction,
  type SignedRequest,
} from '@prism-gateway/protocol/typed-data';
import { untilAborted } from '../http/signals.ts';
import { isEnded, type WaitOptions } from '../requests/waitForRequest.ts';
import { type ActionInput, writeParams } from './actionInput.ts';
import { isSignedByContract, readForwarderNonce } from './chainReader.ts';
import { createNonceManager, type NonceManager, type NonceUse } from './createNonceManager.ts';
import type { SignatureCheck } from './createNonceSearch.ts';
import { createVerbs, type Submission, type SubmitOptions } from './createVerbs.ts';
import { isSignedBy, openSigner, type TypedDataSigner, WalletError } from './openSigner.ts';
import type { UserClient, UserClientOptions } from './userClient.ts';

/** An action on its way to being signed. */
interface Order<A extends SignedAction> extends SubmitOptions {
  readonly action: A;
  readonly input: ActionInput<A>;
}

async function signInput<A extends SignedAction>(
  { gateway, domain, signatures }: UserClientOptions,
  { address, sign }: TypedDataSigner,
  { action, input, nonce, signal }: Order<A> & { readonly nonce: bigint },
): Promise<ActionParams<A>> {
  const source = { ...domain, action, params: writeParams<A>(input, gateway.transport.now()), nonce };
  const signature = await untilAborted('Signing', sign(createTypedData<A>(source)), signal);
  const params = createSignedParams<A>({ ...source, signer: address, signature });
  // Signed params are the action's. A wallet may have been switched to another account since it was opened.
  const request = { ...source, params } as unknown as SignedRequest;
  if (signatures !== 'erc1271' && !(await isSignedBy(address, request))) throw new WalletError('WRONG_SIGNER');
  return params;
}

/**
 * Makes a user's client: one verb for each action, which signs the action with the next forwarder nonce and submits it. Verbs may
 * be called at once; they are signed and submitted one after the other.
 *
 * @param options - the gateway, the Forwarder, who signs (`account`, `walletClient` or `provider`) and how to read the nonce
 * @see docs/specification.md CHAIN-2
 * @example
 * const user = createUserClient({ gateway, account, chainName: 'eip155:31337', domain: { chainId: 31337, forwarder }, publicClient });
 * const { wait } = await user.writeData({ cloudId, dataId, payload: '0x68656c6c6f', relayerFee: 10n ** 16n });
 * const record = await wait({ timeoutMs: 60_000 });
 */
export function createUserClient(options: UserClientOptions): UserClient {
  const { gateway } = options;
  const open = createOpener(options);
  let nonces: NonceManager | undefined;

  function settle(record: RequestRecord): void {
    // Without a nonce used there is none to look after, and no reason to ask for a wallet.
    if (isEnded(record)) nonces?.settle(record.requestId, record.status);
  }

  async function waitForRequest(requestId: string, wait?: WaitOptions): Promise<RequestRecord> {
    const record = await gateway.waitForRequest(requestId, wait);
    settle(record);
    return record;
  }

  /** Signs an action with the next nonce, and does something with it before the next one is signed. */
  async function useSigned<A extends SignedAction, T>(
    order: Order<A>,
    act: (params: ActionParams<A>, nonce: bigint) => Promise<NonceUse<T>>,
  ): Promise<T> {
    const { signal, replaces } = order;
    const user = await open(signal);
    nonces = user.nonces;
    return await nonces.use(
      async (nonce) => await act(await signInput<A>(options, user.signer, { ...order, nonce }), nonce),
      { signal, nonce: replaces?.nonce },
    );
  }

  function submit<A extends SignedAction>(action: A, input: ActionInput<A>, submitOptions: SubmitOptions = {}) {
    const { signal } = submitOptions;
    return useSigned<A, Submission<A>>({ ...submitOptions, action, input }, async (params, nonce) => {
      const record = await gateway.submitRequest<A>({ chainName: options.chainName, action, params }, { signal });
      const { requestId } = record;
      const wait = (how?: WaitOptions) => waitForRequest(requestId, how);
      return { value: { requestId, record, nonce, wait }, requestId };
    });
  }

  return {
    ...createVerbs(submit),
    submit,
    waitForRequest,
    waitForRequests: (requestIds, wait) =>
      gateway.waitForRequests(requestIds, {
        ...wait,
        onProgress(progress) {
          settle(progress.record);
          wait?.onProgress?.(progress);
        },
      }),
    domain: options.domain,
    getAddress: async () => (await open()).signer.address,
    signWrite: (input, { signal } = {}) =>
      useSigned({ action: 'WRITE_DATA_FOR', input, signal }, async (entry, nonce) => ({ value: { entry, nonce } })),
    signTypedData: async (typedData) => (await open()).signer.sign(typedData),
    releaseNonce: async (nonce) => (await open()).nonces.release(nonce),
    resyncNonces: async () => (await open()).nonces.resync(),
  };
}

/** The Forwarder's own default: one day. */
const DEFAULT_MAX_AGE_SECONDS = 86_400;
/** About as long as a person takes between two devices. */
const DEFAULT_NONCE_TRUST_MS = 30_000;

/** A user's wallet, opened. */
interface OpenUser {
  readonly signer: TypedDataSigner;
  readonly nonces: NonceManager;
}

/** Some 4 ms each: a quarter of a second. */
const MOST_RECOVERIES = 64;
/** Each asks a node, over the network. */
const MOST_CALLS = 16;

/** Without a chain to ask, no record shows that a contract wallet has signed it: anybody may have posted it. */
function chooseCheck(options: UserClientOptions, signer: string): Omit<SignatureCheck, 'domain'> {
  if (options.signatures !== 'erc1271') {
    return { isSigned: (request) => isSignedBy(signer, request), mostChecks: MOST_RECOVERIES };
  }
  if (!('publicClient' in options)) return { isSigned: async () => false, mostChecks: 0 };
  return { isSigned: (request) => isSignedByContract(options.publicClient, signer, request), mostChecks: MOST_CALLS };
}

async function openUser(options: UserClientOptions): Promise<OpenUser> {
  const signer = await openSigner(options);
  const nonces = createNonceManager({
    ...options,
    signer: signer.address,
    readNonce:
      'readNonce' in options
        ? options.readNonce
        : readForwarderNonce.bind(undefined, options.publicClient, options.domain),
    maxAgeSeconds: options.maxAgeSeconds ?? DEFAULT_MAX_AGE_SECONDS,
    ...chooseCheck(options, signer.address),
    trustMs: options.nonceTrustMs ?? DEFAULT_NONCE_TRUST_MS,
  });
  return { signer, nonces };
}

/**
 * Makes a function that opens the wallet when it is first needed; a refusal is not kept, so that the user may be asked again.
 *
 * @throws GatewayError ABORTED; the wallet's answer is awaited all the same, for whoever asks next
 */
function createOpener(options: UserClientOptions): (signal?: AbortSignal) => Promise<OpenUser> {
  let opened: Promise<OpenUser> | undefined;
  return (signal) => {
    opened ??= openUser(options).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return untilAborted('Opening the wallet', opened, signal);
  };
}
