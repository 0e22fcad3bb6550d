import vectorFile from '@prism-gateway/protocol/vectors/relayer-auth.json' with { type: 'json' };
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { expect } from 'vitest';
import { callApi } from '../rig/callApi.ts';
import { covers } from '../rig/covers.ts';
import { errorOf } from '../rig/faults.ts';
import { type AuthVector, resignVector } from '../rig/resignVector.ts';
import { sendRaw } from '../rig/sendRaw.ts';
import { type Relayer, readTarget, relayerAt } from '../rig/target.ts';

const target = readTarget();
const vectors: readonly (AuthVector & { overHttp: boolean })[] = vectorFile.vectors;

function makeOutsider(): Relayer {
  const privateKey = generatePrivateKey();
  return { privateKey, address: privateKeyToAddress(privateKey) };
}

/** The file's two whitelisted relayers are two of the run's, and its outsider is a new one. */
function chooseStandIns(): Map<string, Relayer> {
  const signers = [...new Set(vectors.map(({ signed }) => signed.address))];
  const places = [relayerAt(target, 9), relayerAt(target, 10)];
  return new Map(signers.map((address) => [address, places[vectorFile.whitelist.indexOf(address)] ?? makeOutsider()]));
}

const standIns = chooseStandIns();

/** Its clock stands in 1970: no live service can be asked. */
const isForNow = ({ now }: AuthVector) => now > 1_000_000_000_000;

async function send(vector: AuthVector) {
  const headers = await resignVector(vector, { standIns, now: Date.now() + target.clockAheadMs });
  const { method, path, query, bodyHex } = vector.request;
  const body = new Uint8Array(Buffer.from(bodyHex.slice(2), 'hex'));
  return await callApi(target, { method, path, headers, ...(query && { query }), ...(body.length > 0 && { body }) });
}

const CHECKS = ['timestamp', 'signature', 'whitelist'];

async function expectVerdict(vector: AuthVector): Promise<void> {
  const answer = await send(vector);
  if (vector.expected === 'accepted') {
    // Auth let it pass: an unknown request, a body that is not valid, or a list.
    const success = vector.request.method === 'GET' ? [200] : [404, 400];
    expect(success, `${vector.name}: ${answer.status} ${answer.text.slice(0, 200)}`).toContain(answer.status);
    return;
  }
  expect([vector.name, answer.status]).toEqual([vector.name, 401]);
  const named = CHECKS.filter((check) => errorOf(answer).includes(`${check} check`));
  expect([vector.name, ...named]).toEqual([vector.name, vector.expected]);
}

async function expectVerdicts(expected: string): Promise<void> {
  const chosen = vectors.filter((vector) => vector.expected === expected && vector.overHttp && isForNow(vector));
  expect(chosen.length).toBeGreaterThan(1);
  for (const vector of chosen) await expectVerdict(vector);
}

covers(
  ['relayerAuth.vectors', 'relayerAuth.scheme', 'relayerAuth.addressCase', 'relayerAuth.body', 'relayerAuth.path'],
  'every vector that is accepted',
  () => expectVerdicts('accepted'),
);

covers(
  ['relayerAuth.vectors', 'relayerAuth.timestamp', 'relayerAuth.window', 'relayerAuth.order'],
  'every vector with a wrong timestamp',
  () => expectVerdicts('timestamp'),
);

covers(
  [
    'relayerAuth.vectors',
    'relayerAuth.scheme',
    'relayerAuth.replay',
    'relayerAuth.path',
    'relayerAuth.body',
    'relayerAuth.order',
  ],
  'every vector with a wrong signature',
  () => expectVerdicts('signature'),
);

covers(
  ['relayerAuth.vectors', 'relayerAuth.whitelist', 'relayerAuth.order'],
  'every vector of one who is not whitelisted',
  () => expectVerdicts('whitelist'),
);

covers(
  ['relayerAuth.vectors', 'relayerAuth.path'],
  'no vector whose path is not what is routed is let in',
  async () => {
    const odd = vectors.filter((vector) => !vector.overHttp);
    expect(odd.length).toBeGreaterThan(1);
    for (const vector of odd) {
      const signed = await resignVector(vector, { standIns, now: Date.now() + target.clockAheadMs });
      const { method, path, bodyHex } = vector.request;
      const headers = { ...signed, 'content-type': 'application/json' };
      const answer = await sendRaw(target, { method, path, headers, body: Buffer.from(bodyHex.slice(2), 'hex') });
      // A server in front may make the path normal, or refuse it, before the service sees it.
      expect([vector.name, [400, 401, 403, 404].includes(answer.status)]).toEqual([vector.name, true]);
      expect(answer.text).not.toContain('There is no request');
    }
  },
);
