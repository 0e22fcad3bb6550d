import { EXAMPLE_REQUESTS } from '@prism-gateway/protocol/examples';
import type { HttpCall } from '@prism-gateway/testing';
import { privateKeyToAddress } from 'viem/accounts';
import { isOutage, type Played, type SeenAnswer } from './answer.ts';
import { makeCall, type RelayerKey, signCall } from './makeCall.ts';
import { ODD_CALLS } from './oddCalls.ts';

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/**
 * Makes a function that writes an answer without what no two runs have in common: ids, moments, signatures, what is left of a
 * limit. Ids become numbers in the order in which they come up, so that a mixed-up one shows.
 */
function createNormaliser(): (played: Played) => Played {
  const numbers = new Map<string, number>();
  const numberOf = (text: string) => {
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    return number;
  };
  function normalise(text: string): string {
    return text
      .replaceAll(uuid, (id) => `<id ${numberOf(id.toLowerCase())}>`)
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
      .replaceAll(/"lastKey":"[\w-]+"/g, '"lastKey":"<cursor>"')
      .replaceAll(/(X-Amz-(?:Date|Signature)=)\w+/g, '$1<moment>')
      .replaceAll(/;r=\d+;t=\d+/g, ';<left>')
      .replaceAll(/<id \d+>-[0-9a-z]+$/g, '<request id>');
  }
  return ({ call, status, headers, body }) => ({
    call: normalise(call).replaceAll(/lastKey=[\w-]+/g, 'lastKey=<cursor>'),
    status,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, normalise(value)])),
    body: normalise(body),
  });
}

/** Those who call, the same for every deployment. */
export interface Actors {
  readonly relayers: readonly [RelayerKey, RelayerKey];
  readonly stranger: RelayerKey;
  readonly adminKey: string;
  /** An access token of the identity provider. */
  readonly token: string;
}

/** How often a call is sent to a store that is too busy to answer. */
const MOST_TRIES = 10;

type Send = (call: HttpCall) => Promise<SeenAnswer>;

const json = (value: unknown) => JSON.stringify(value);
const TX_HASH = `0x${'ab'.repeat(32)}`;

/** Whitelists the relayers, and stores requests of every action. */
async function* setUp({ relayers, adminKey }: Actors): AsyncGenerator<HttpCall, string[], SeenAnswer> {
  const admin = [['X-Admin-Key', adminKey]] as const;
  for (const { privateKey } of relayers) {
    const body = json({ address: privateKeyToAddress(privateKey).toLowerCase(), label: 'Ångström €' });
    yield makeCall({ method: 'POST', target: '/admin/relayers', headers: admin, body });
  }
  yield makeCall({ target: '/admin/relayers', headers: admin });
  const ids: string[] = [];
  for (const request of Object.values(EXAMPLE_REQUESTS)) {
    const { body } = yield makeCall({ method: 'POST', target: '/requests', body: json(request) });
    // A 201 has an id; anything else makes the comparison fail.
    ids.push((JSON.parse(body) as { requestId?: string }).requestId ?? '');
  }
  return ids;
}

/** The life of a request, with all that may go wrong in it. */
async function* liveOnce(id: string, { relayers, stranger }: Actors): AsyncGenerator<HttpCall, void, SeenAnswer> {
  const [owner, rival] = relayers;
  const target = `/requests/${id}`;
  const claim = { method: 'PATCH', target, body: json({ status: 'processing' }) };
  const success = { method: 'PATCH', target, body: json({ status: 'success', txHash: TX_HASH }) };
  yield makeCall({ target });
  yield makeCall({ method: 'HEAD', target });
  yield await signCall(owner, success);
  yield await signCall(stranger, claim);
  yield await signCall(owner, { ...claim, signedPath: `/prod${target}` });
  yield await signCall(owner, { ...claim, signedPath: `${target}/` });
  yield await signCall(owner, { ...claim, target: `${target}?a=b` });
  yield await signCall(rival, claim);
  yield await signCall(rival, success);
  yield await signCall(owner, { ...success, body: json({ status: 'failed' }) });
  yield await signCall(owner, { ...success, body: `${json({ status: 'failed', errorMessage: '€'.repeat(1000) })} ` });
  yield await signCall(owner, success);
  yield makeCall({ target: `/requests/${id.toUpperCase()}` });
}

/** Lists of every kind, walked to their end. */
async function* walkLists({ relayers: [relayer] }: Actors): AsyncGenerator<HttpCall, void, SeenAnswer> {
  const signer = EXAMPLE_REQUESTS.WRITE_DATA_FOR.params.signer;
  const queries = [`signer=${signer}&limit=5`, 'status=pending&limit=4&order=desc', 'chainName=eip155%3A31337&limit=7'];
  for (const query of queries) {
    for (let cursor = ''; ; ) {
      const { body } = yield await signCall(relayer, { target: `/requests?${query}${cursor}` });
      const { lastKey } = JSON.parse(body) as { lastKey?: string | null };
      if (typeof lastKey !== 'string') break;
      cursor = `&lastKey=${lastKey}`;
    }
  }
}

/** Presigned URLs, and what the administrator takes back. */
async function* signAndTidy({ relayers, adminKey, token }: Actors): AsyncGenerator<HttpCall, void, SeenAnswer> {
  const order = { projectId: `0x${'12'.repeat(16)}`, key: `0x${'34'.repeat(32)}` };
  const headers = [['Authorization', `Bearer ${token}`]] as const;
  for (const operation of ['put', 'get', 'head', 'delete', 'list']) {
    yield makeCall({ method: 'POST', target: '/storage/sign', headers, body: json({ ...order, operation }) });
  }
  const address = privateKeyToAddress(relayers[1].privateKey);
  yield makeCall({ method: 'DELETE', target: `/admin/relayers/${address}`, headers: [['X-Admin-Key', adminKey]] });
  yield await signCall(relayers[1], { target: '/requests?status=pending' });
}

async function* lifeCalls(actors: Actors): AsyncGenerator<HttpCall, void, SeenAnswer> {
  const ids = yield* setUp(actors);
  for (const id of ids.slice(0, 2)) yield* liveOnce(id, actors);
  yield* walkLists(actors);
  yield* signAndTidy(actors);
}

/**
 * Plays the same calls to a gateway with empty tables.
 *
 * @param send - sends a call and gives its answer
 * @returns all calls with their answers, without what no two runs have in common
 */
export async function playScenario(send: Send, actors: Actors): Promise<Played[]> {
  const played: Played[] = [];
  const normalise = createNormaliser();
  const keep = ({ method, target }: HttpCall, answer: SeenAnswer) => {
    played.push(normalise({ call: `${method} ${target}`, ...answer }));
  };
  const calls = lifeCalls(actors);
  let next = await calls.next();
  while (!next.done) {
    const answer = await send(next.value);
    keep(next.value, answer);
    next = await calls.next(answer);
  }
  // None of these changes anything, so they may go side by side, and again.
  const insist = async (call: HttpCall, tries = 1): Promise<SeenAnswer> => {
    const answer = await send(call);
    return isOutage(answer) && tries < MOST_TRIES ? await insist(call, tries + 1) : answer;
  };
  const odd = await Promise.all(ODD_CALLS.map(async (call) => ({ call, answer: await insist(call) })));
  for (const { call, answer } of odd) keep(call, answer);
  return played;
}
