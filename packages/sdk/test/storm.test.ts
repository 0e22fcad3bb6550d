import { recoverRequestSigner } from '@prism-gateway/protocol/typed-data';
import { type FaultKind, type FaultProxy, shareFaults, startFaultProxy } from '@prism-gateway/testing';
import { sized } from '@prism-gateway/testing/test-size';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createGatewayClient, type GatewayClient, isGatewayError, type RelayerClient } from '../src/index.ts';
import { DOMAIN, newAccount, QUICK_RETRY, type SdkRig, startSdkRig, TX_HASH } from './rig.ts';

const USERS = sized({ small: 3, long: 10 });
const REQUESTS = sized({ small: 12, long: 40 });

/** What befalls three calls in ten. Where nothing ever comes the wait costs time: few of those. */
const quick: readonly FaultKind[] = [
  'cutBefore',
  'cutAfter',
  'cutInAnswer',
  'serverError',
  'serverErrorAfter',
  'unavailable',
];
const FAULTS = { ...shareFaults(0.29, quick), ...shareFaults(0.01, ['stallBefore', 'stallAfter']) };

let rig: SdkRig;
let proxy: FaultProxy;
let gateway: GatewayClient;

beforeAll(async () => {
  rig = await startSdkRig();
  proxy = await startFaultProxy({ upstream: rig.running.url, seed: 4 });
  proxy.setShares(FAULTS);
  const retry = { ...QUICK_RETRY, attempts: 20 };
  gateway = createGatewayClient({ url: proxy.url, retry, timeoutMs: 1000 });
});
afterAll(async () => {
  await proxy?.close();
  await rig?.stop();
});

/** Submits requests at once, and checks that each is stored once, in the order of its nonce. */
async function submitMany(): Promise<readonly string[]> {
  const account = newAccount();
  const user = rig.createUser({ gateway, account });
  const wish = { cloudId: '0x01', relayerFee: 1n };
  const submitted = await Promise.all(Array.from({ length: REQUESTS }, () => user.deletePrism(wish)));
  const stored: string[] = [];
  for await (const { requestId, params } of rig.gateway.listRequests({ signer: account.address, limit: 100 })) {
    const nonce = BigInt(stored.length);
    const source = { ...DOMAIN, action: 'DELETE_PRISM_FOR', nonce, params } as Parameters<
      typeof recoverRequestSigner
    >[0];
    expect(await recoverRequestSigner(source)).toBe(account.address);
    stored.push(requestId);
  }
  expect(stored).toEqual(submitted.map(({ requestId }) => requestId));
  return stored;
}

/** Two relayers race for a request; the winner reports. @returns how many won */
async function raceFor(requestId: string, rivals: readonly RelayerClient[]): Promise<number> {
  const won = await Promise.all(
    rivals.map(async (relayer) => {
      try {
        await relayer.claim(requestId);
      } catch (error) {
        if (isGatewayError(error, 'CONFLICT')) return false;
        throw error;
      }
      await relayer.reportSuccess(requestId, TX_HASH);
      return true;
    }),
  );
  return won.filter(Boolean).length;
}

it('a storm of faults doubles nothing and loses nothing', async () => {
  const ids = (await Promise.all(Array.from({ length: USERS }, submitMany))).flat();
  const rivals = [await rig.addRelayer(gateway), await rig.addRelayer(gateway)];
  for (const requestId of ids) {
    expect(await raceFor(requestId, rivals)).toBe(1);
    expect(await rig.gateway.getRequest(requestId)).toMatchObject({ status: 'success', txHash: TX_HASH });
  }
  // The storm was one.
  for (const kind of quick) expect(proxy.counts[kind], kind).toBeGreaterThan(0);
});
