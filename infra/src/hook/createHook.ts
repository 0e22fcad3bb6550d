import { randomBytes } from 'node:crypto';
import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import { type AdminClient, createAdminClient } from '@prism-gateway/sdk/admin';
import { createRelayerClient, type RelayerClient } from '@prism-gateway/sdk/relayer';
import { createGatewayClient, type GatewayClient } from '@prism-gateway/sdk/requests';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { CANARY_CHAIN } from './canaryChain.ts';
import { createInvokeFetch, type Invoke } from './createInvokeFetch.ts';

/** The event that CodeDeploy calls the hook with. */
export interface HookEvent {
  readonly DeploymentId: string;
  readonly LifecycleEventHookExecutionId: string;
}

interface HookContext {
  /** Where clients call: the hook calls it too, edge and all; undefined: `invoke` calls the version itself, which nobody else reaches yet. */
  readonly publicUrl?: string | undefined;
  readonly invoke: Invoke;
  readonly readAdminKey: () => Promise<string>;
  /** @returns undefined if there is no edge */
  readonly readOriginSecret: () => Promise<string | undefined>;
  /** Notifies CodeDeploy. Until then it waits, and counts silence as failure after an hour. */
  readonly report: (event: HookEvent, status: 'Succeeded' | 'Failed') => Promise<void>;
  readonly log: (line: string) => void;
}

/** Of `new,old` either is valid; the first outlives the other. */
const firstOf = (secret: string | undefined) => secret?.split(',')[0]?.trim();

/**
 * Makes the hook that CodeDeploy runs before a new version gets its first call, or, with a public address, once it has all calls: what does
 * not pass the canary is taken back.
 *
 * @see https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file-structure-hooks.html
 */
export function createHook({ publicUrl, invoke, readAdminKey, readOriginSecret, report, log }: HookContext) {
  async function evaluate(): Promise<'Succeeded' | 'Failed'> {
    try {
      const [adminKey = '', originSecret] = [firstOf(await readAdminKey()), firstOf(await readOriginSecret())];
      const reached =
        publicUrl === undefined
          ? { url: URL_OF_NOBODY, fetch: createInvokeFetch({ invoke, originSecret }) }
          : { url: publicUrl, fetch: globalThis.fetch };
      await playCanary({ ...reached, adminKey });
      return 'Succeeded';
    } catch (error) {
      log(
        JSON.stringify({
          level: 'error',
          code: 'CANARY_FAILED',
          reason: error instanceof Error ? error.message : 'unknown',
        }),
      );
      return 'Failed';
    }
  }
  return async function hook(event: HookEvent): Promise<void> {
    await report(event, await evaluate());
  };
}

/** A new version does not do what it must. */
class CanaryError extends Error {
  override readonly name = 'CanaryError';
  readonly code = 'CANARY_FAILED';

  constructor(step: string, found: string) {
    super(`The new version is not fit for calls: ${step}: ${found}.`);
  }
}

interface CanaryContext {
  /** Reaches the version that is to be checked. */
  readonly fetch: typeof globalThis.fetch;
  readonly url: string;
  readonly adminKey: string;
}

/** Names no host that exists: all calls go by `fetch`. */
const URL_OF_NOBODY = 'https://pre-traffic.invalid';

interface Parties {
  readonly gateway: GatewayClient;
  readonly admin: AdminClient;
  readonly owner: RelayerClient;
  readonly rival: RelayerClient;
}

function expectEqual(step: string, found: unknown, expected: unknown): void {
  if (found !== expected) throw new CanaryError(step, `expected ${String(expected)}, found ${String(found)}`);
}

async function checkReady({ fetch, url }: CanaryContext): Promise<void> {
  expectEqual('/ready', (await fetch(`${url}/ready`)).status, 200);
}

/** Plays a request's life: posted, claimed by one of two, reported as failed, and read. */
async function playLife({ gateway, owner, rival }: Parties): Promise<void> {
  const { params, action } = EXAMPLE_REQUESTS.WRITE_DATA_FOR;
  // A signature of its own, or it would be the canary of the release before.
  const body = {
    chainName: CANARY_CHAIN,
    action,
    params: { ...params, r: `0x${randomBytes(32).toString('hex')}` as const },
  };
  const { requestId } = await gateway.submitRequest(body);
  const claimed = await owner.claim(requestId);
  expectEqual('the claim', claimed.status, 'processing');
  expectEqual("the claim's owner", claimed.claimedBy?.toLowerCase(), owner.address.toLowerCase());
  const second = await rival.claim(requestId).then(
    () => 'granted',
    (error: { readonly code?: string }) => error.code,
  );
  expectEqual("a rival's claim", second, 'REQUEST_ALREADY_CLAIMED');
  await owner.reportFailure(requestId, 'canary of a release');
  expectEqual('the report', (await gateway.getRequest(requestId)).status, 'failed');
}

/**
 * Checks a version that no client reaches yet: `/ready`, and a claim on a request of its own, by relayers of its own that are
 * gone from the whitelist afterwards.
 *
 * @throws CanaryError (`CANARY_FAILED`), or the client's own error, which says what was answered
 */
async function playCanary(context: CanaryContext): Promise<void> {
  const { fetch, url, adminKey } = context;
  await checkReady(context);
  const transport = { url, fetch };
  const createRelayer = () => createRelayerClient({ ...transport, account: privateKeyToAccount(generatePrivateKey()) });
  const gateway = createGatewayClient(transport);
  const admin = createAdminClient({ ...transport, adminKey });
  const relayers = [createRelayer(), createRelayer()] as const;
  const [owner, rival] = relayers;
  try {
    for (const { address } of relayers) await admin.addRelayer({ address, label: 'canary of a release' });
    await playLife({ gateway, admin, owner, rival });
  } finally {
    for (const { address } of relayers) await admin.removeRelayer(address);
  }
}
