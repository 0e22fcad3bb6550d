import { fillQueue } from '@prism-gateway/testing';
import { isLong, sized } from '@prism-gateway/testing/test-size';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newAccount, type SdkRig, startSdkRig } from './rig.ts';

const POSTS = sized({ small: 300, long: 100_000 });
/** The delay that they may cause for a submit on a machine that has nothing else to do, in milliseconds. */
const MOST_MS = 1000;
const PRISM = { cloudId: `0x${'0c'.repeat(32)}`, relayerFee: 1n } as const;

let rig: SdkRig;
beforeAll(async () => {
  rig = await startSdkRig();
});
afterAll(() => rig?.stop());

/** As anybody may send them: in a user's name, with signatures of somebody else's. */
function* postsOf(
  signer: string,
  record: { readonly chainName: string; readonly action: string; readonly params: object },
) {
  const { chainName, action, params } = record;
  for (let i = 0; i < POSTS; i++) {
    const r = `0x${(i + 1).toString(16).padStart(64, '0')}`;
    yield { chainName, action, params: { ...params, signer, r } };
  }
}

test(`${POSTS} posts in a user's name take no nonce and hold no submit up`, async () => {
  const { record } = await rig.createUser().deletePrism(PRISM);
  const account = newAccount();
  await fillQueue(rig.running, postsOf(account.address, record));
  const startedAt = performance.now();
  const submitted = await rig.createUser({ account }).deletePrism(PRISM);
  const ms = Math.round(performance.now() - startedAt);
  expect(submitted.nonce).toBe(0n);
  if (!isLong) return;
  console.log(`a submit behind ${POSTS} posts in its user's name: ${ms} ms`);
  expect(ms).toBeLessThanOrEqual(MOST_MS);
});
