import type { ActionParams, RequestRecord } from '@prism-gateway/protocol';
import { createSignedParams, createTypedData, type SignedAction } from '@prism-gateway/protocol/typed-data';
import type { CallOptions } from '../requests/getRequest.ts';
import { isEnded, type WaitOptions } from '../requests/waitForRequest.ts';
import { createOpener, type OpenUser } from './openUser.ts';
import type { Submission } from './submission.ts';
import type { UserClient, UserClientOptions } from './userClient.ts';
import { createVerbs } from './verbs.ts';
import { type Wish, writeWish } from './wishes.ts';

/** One wish on its way to being signed. */
interface Order<A extends SignedAction> {
  readonly action: A;
  readonly wish: Wish<A>;
  readonly nonce: bigint;
}

async function signWish<A extends SignedAction>(
  { gateway, domain }: UserClientOptions,
  { signer }: OpenUser,
  { action, wish, nonce }: Order<A>,
): Promise<ActionParams<A>> {
  const params = writeWish<A>(wish, gateway.transport.now());
  const signature = await signer.sign(createTypedData<A>({ ...domain, action, params, nonce }));
  return createSignedParams<A>({ action, params, signer: signer.address, signature });
}

async function submitWish<A extends SignedAction>(
  options: UserClientOptions,
  user: OpenUser,
  { action, wish, signal }: { readonly action: A; readonly wish: Wish<A> } & CallOptions,
): Promise<Omit<Submission<A>, 'wait'>> {
  const { gateway, chainName } = options;
  return await user.nonces.use(async (nonce) => {
    const params = await signWish<A>(options, user, { action, wish, nonce });
    const record = await gateway.submitRequest<A>({ chainName, action, params }, { signal });
    const { requestId } = record;
    return { value: { requestId, record, nonce }, requestId };
  }, signal);
}

/**
 * Makes a user's client: one verb for each action, which signs the wish with the next forwarder nonce and submits it. Verbs may
 * be called at once; they are signed and submitted one after the other.
 *
 * @param options - the gateway, the Forwarder, who signs (`account`, `walletClient` or `provider`) and how to read the nonce
 * @see DECISIONS.md, "On-chain reference"
 * @example
 * const user = createUserClient({ gateway, account, chainName: 'eip155:31337', domain: { chainId: 31337, forwarder }, publicClient });
 * const { wait } = await user.writeData({ cloudId, dataId, payload: '0x68656c6c6f', relayerFee: 10n ** 16n });
 * const record = await wait({ timeoutMs: 60_000 });
 */
export function createUserClient(options: UserClientOptions): UserClient {
  const { gateway } = options;
  const open = createOpener(options);

  async function waitForRequest(requestId: string, wait?: WaitOptions): Promise<RequestRecord> {
    const [{ nonces }, record] = await Promise.all([open(), gateway.waitForRequest(requestId, wait)]);
    if (isEnded(record)) nonces.settle(requestId, record.status === 'success' ? 'success' : 'failed');
    return record;
  }

  async function submit<A extends SignedAction>(action: A, wish: Wish<A>, { signal }: CallOptions = {}) {
    const submitted = await submitWish<A>(options, await open(), { action, wish, signal });
    return { ...submitted, wait: (wait?: WaitOptions) => waitForRequest(submitted.requestId, wait) };
  }

  return {
    ...createVerbs(submit),
    submit,
    waitForRequest,
    domain: options.domain,
    getAddress: async () => (await open()).signer.address,
    async signWrite(wish, { signal } = {}) {
      const user = await open();
      return await user.nonces.use(async (nonce) => {
        const entry = await signWish(options, user, { action: 'WRITE_DATA_FOR', wish, nonce });
        return { value: { entry, nonce } };
      }, signal);
    },
    signTypedData: async (typedData) => (await open()).signer.sign(typedData),
    releaseNonce: async (nonce) => (await open()).nonces.release(nonce),
    resyncNonces: async () => (await open()).nonces.resync(),
  };
}
