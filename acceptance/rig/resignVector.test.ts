import vectorFile from '@prism-gateway/protocol/vectors/relayer-auth.json' with { type: 'json' };
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { expect, test } from 'vitest';
import { type AuthVector, resignVector } from './resignVector.ts';
import type { Relayer } from './target.ts';

const vectors: readonly AuthVector[] = vectorFile.vectors;
/** The keys of the file are well known; here they stand for themselves. */
const themselves = new Map<string, Relayer>(
  vectors.map(({ signed }) => [
    signed.address,
    { privateKey: signed.privateKey as Hex, address: signed.address as Hex },
  ]),
);

const isAtEdge = ({ name }: AuthVector) => /5 minutes|one millisecond|^a wrong timestamp and/.test(name);

test('signed by its own key for its own time, a vector is what it was', async () => {
  for (const vector of vectors.filter((each) => !isAtEdge(each))) {
    const headers = await resignVector(vector, { standIns: themselves, now: vector.now });
    expect([vector.name, headers]).toEqual([vector.name, vector.request.headers]);
  }
});

test('a time at the edge of the window moves away from it', async () => {
  const offsets = new Map<string, number>();
  for (const vector of vectors.filter(isAtEdge)) {
    const headers = await resignVector(vector, { standIns: themselves, now: vector.now });
    offsets.set(vector.name, Math.round((Number(headers['X-Relayer-Timestamp']) - vector.now) / 1000));
  }
  expect(Object.fromEntries(offsets)).toEqual({
    'a timestamp 5 minutes old': -285,
    'a timestamp 5 minutes ahead': 285,
    'a timestamp one millisecond too old': -315,
    'a timestamp one millisecond too new': 315,
    'a wrong timestamp and a wrong signature': -315,
    'a wrong timestamp and a relayer that is not whitelisted': 315,
  });
});

test('a stand-in takes the place of the known key in every form of its address', async () => {
  const standIns = new Map<string, Relayer>();
  for (const address of themselves.keys()) {
    const privateKey = generatePrivateKey();
    standIns.set(address, { privateKey, address: privateKeyToAddress(privateKey) });
  }
  const known = [...themselves.keys()].map((address) => address.slice(2, 40).toLowerCase());
  for (const vector of vectors) {
    const headers = await resignVector(vector, { standIns, now: Date.now() });
    const address = headers['X-Relayer-Address']?.toLowerCase() ?? '';
    expect(known.filter((digits) => address.includes(digits))).toEqual([]);
    const sent = headers['X-Relayer-Signature'] ?? '';
    expect([vector.name, sent.includes(vector.signed.signature.slice(2, 66))]).toEqual([vector.name, false]);
  }
});
