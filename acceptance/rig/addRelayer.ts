import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect, onTestFinished } from 'vitest';
import { callApi } from './callApi.ts';
import type { Relayer, Target } from './target.ts';

/** Whitelists a relayer for the length of a test: one that may be suspended, since no other test uses it. */
export async function addRelayer(target: Target): Promise<Relayer> {
  const headers = { 'x-admin-key': target.adminKey };
  const privateKey = generatePrivateKey();
  const { address } = privateKeyToAccount(privateKey);
  onTestFinished(
    async () => void (await callApi(target, { method: 'DELETE', path: `/admin/relayers/${address}`, headers })),
  );
  const answer = await callApi(target, { method: 'POST', path: '/admin/relayers', json: { address }, headers });
  expect(answer.status, answer.text).toBe(201);
  return { address, privateKey };
}
