import type { ActionParams, RequestRecord } from '@prism-gateway/protocol';
import {
  createSignedParams,
  createTypedData,
  type SignedAction,
  type SignedRequest,
} from '@prism-gateway/protocol/typed-data';
import { untilAborted } from '../http/untilAborted.ts';
import type { CallOptions } from '../requests/getRequest.ts';
import { isEnded, type WaitOptions } from '../requests/waitForRequest.ts';
import { type ActionInput, writeParams } from './actionInput.ts';
import type { NonceManager, NonceUse } from './createNonceManager.ts';
import { createOpener } from './createOpener.ts';
import type { Submission } from './createVerbs.ts';
import { createVerbs } from './createVerbs.ts';
import { isSignedBy } from './isSignedBy.ts';
import type { TypedDataSigner } from './openSigner.ts';
import type { UserClient, UserClientOptions } from './userClient.ts';
import { WalletError } from './walletError.ts';

/** An action on its way to being signed. */
interface Order<A extends SignedAction> extends CallOptions {
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
    const { signal } = order;
    const user = await open(signal);
    nonces = user.nonces;
    return await nonces.use(
      async (nonce) => await act(await signInput<A>(options, user.signer, { ...order, nonce }), nonce),
      signal,
    );
  }

  function submit<A extends SignedAction>(action: A, input: ActionInput<A>, { signal }: CallOptions = {}) {
    return useSigned<A, Submission<A>>({ action, input, signal }, async (params, nonce) => {
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
