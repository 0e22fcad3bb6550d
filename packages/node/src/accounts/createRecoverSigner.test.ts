import { setImmediate as nextTurn } from 'node:timers/promises';
import { privateKeyToAccount, sign } from 'viem/accounts';
import { expect, test } from 'vitest';
import { createRecoverSigner } from './createRecoverSigner.ts';

const [key, digest] = [`0x${'22'.repeat(32)}`, `0x${'33'.repeat(32)}`] as const;

test('recovers who signed, in lower case', async () => {
  const recoverSigner = createRecoverSigner();
  const { r, s, yParity = 0 } = await sign({ hash: digest, privateKey: key });
  const signer = privateKeyToAccount(key).address.toLowerCase();
  expect(await recoverSigner({ digest, v: 27 + yParity, r, s })).toBe(signer);
  expect(await recoverSigner({ digest, v: 28 - yParity, r, s })).not.toBe(signer);
  expect(await recoverSigner({ digest, v: 27, r: `0x${'ff'.repeat(32)}`, s })).toBeUndefined();
});

test('many that come at once leave the process its turns', async () => {
  const recoverSigner = createRecoverSigner();
  const { r, s, yParity = 0 } = await sign({ hash: digest, privateKey: key });
  let recovered = 0;
  const all = Array.from({ length: 200 }, async () => {
    await recoverSigner({ digest, v: 27 + yParity, r, s });
    recovered += 1;
  });
  await nextTurn();
  expect(recovered).toBeLessThanOrEqual(64);
  await Promise.all(all);
  expect(recovered).toBe(200);
});
