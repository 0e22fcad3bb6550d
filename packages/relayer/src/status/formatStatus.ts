import type { WrittenTransaction } from '@prism-gateway/sender';
import type {
  ForeignTransactions,
  HeldRequest,
  OutvotedNode,
  RequestStory,
  WrittenExceeded,
  WrittenVerdict,
} from '../journal/createJournalView.ts';
import type { ChainStatus, Counts } from './readStatus.ts';

const at = (ms: number) => new Date(ms).toISOString();

function listCounts(counts: Counts): string {
  const sorted = Object.entries(counts).toSorted(([, a], [, b]) => b - a);
  return sorted.length === 0 ? '' : `: ${sorted.map(([name, count]) => `${name} ${count}`).join(', ')}`;
}

function describeHeld({ requestId, state, action, signer, claimedAtMs, attempts }: HeldRequest): string {
  const tried = attempts === 0 ? '' : `, attempt ${attempts}`;
  return `    ${requestId}  ${state}  ${action} of ${signer}, claimed ${at(claimedAtMs)}${tried}`;
}

function describeWaiting({ requestId, verdict, waitsFor = '', message }: WrittenVerdict): string {
  return `    ${requestId}  ${verdict}: waits for ${waitsFor}${message === undefined ? '' : ` (${message})`}`;
}

function describeExceeded({ budget, party, lost, limit, untilMs }: WrittenExceeded): string {
  const whose = party === '' ? '' : ` of ${party}`;
  return `    budget of ${budget}${whose} is used up: ${lost} of ${limit}; left alone until ${at(untilMs)}`;
}

function describeForeign({ total, last }: ForeignTransactions): readonly string[] {
  if (last === undefined) return [];
  const which = last.txHash === undefined ? '' : `, ${last.txHash}`;
  return [
    `  has found ${total} transactions of its key that it has not made, the last ${at(last.atMs)} (account nonce ${last.nonce}${which})`,
  ];
}

function describeOutvoted({ node, says, times, atMs }: OutvotedNode): string {
  return `  ${node} was alone ${times === 1 ? 'once' : `${times} times`} with what it said, the last time ${at(atMs)}: ${says}`;
}

/** Writes a status for people. @returns lines, each of them indented */
export function formatStatus(status: ChainStatus): string {
  const { held, judged, waiting, transactions, spentEther, earnedCredits, foreignTransactions, outvotedNodes, losses } =
    status;
  return [
    `  holds ${held.total}${listCounts(held.byState)}`,
    ...held.requests.map(describeHeld),
    `  has judged ${judged.total}${listCounts(judged.byVerdict)}`,
    ...waiting.map(describeWaiting),
    `  has spent ${spentEther} ether in ${transactions} transactions, and earned ${earnedCredits} credits`,
    `  has lost ${losses.lastHourEther} ether in the last hour, and ${losses.lastDayEther} in the last day`,
    ...losses.exceeded.map(describeExceeded),
    ...describeForeign(foreignTransactions),
    ...outvotedNodes.map(describeOutvoted),
  ].join('\n');
}

function describeVerdict({ verdict, message, waitsFor, judgedAtMs, recheckAtMs }: WrittenVerdict): readonly string[] {
  return [
    `  judged ${at(judgedAtMs)}: ${verdict}${message === undefined ? '' : `: ${message}`}`,
    ...(waitsFor === undefined ? [] : [`  waits for ${waitsFor}`]),
    ...(recheckAtMs === undefined ? [] : [`  looked at again ${at(recheckAtMs)} at the earliest`]),
  ];
}

function describeSubmission({
  intentId,
  gasLimit,
  requests,
  others,
  ...rest
}: RequestStory['submissions'][number]): string {
  const { maxFeePerGas, expiresAtMs, atMs } = rest;
  const bounds = [
    ...(maxFeePerGas === undefined ? [] : [`at most ${maxFeePerGas} wei a unit`]),
    ...(expiresAtMs === undefined ? [] : [`cancelled from ${at(expiresAtMs)} on`]),
  ].map((bound) => `, ${bound}`);
  const count = `${requests} ${requests === 1 ? 'request' : 'requests'}`;
  const companions = others.length === 0 ? '' : `, with ${others.join(' ')}`;
  return `  ${at(atMs)}  intent ${intentId}: gas limit ${gasLimit}${bounds.join('')}, ${count}${companions}`;
}

function describeTransaction({ txHash, nonce, kind, maxFeePerGas, signedAtMs, ...rest }: WrittenTransaction): string {
  const { intentId, state, failure } = rest;
  const what = kind === 'call' ? 'transaction' : 'cancel';
  const why = failure === undefined ? '' : ` (${failure})`;
  return `  ${at(signedAtMs)}  ${what} ${txHash}: account nonce ${nonce}, at most ${maxFeePerGas} wei a unit; intent ${intentId} is ${state}${why}`;
}

/** Writes all that is known of one request for people. @param transactions - that were signed for it */
export function formatStory(story: RequestStory, transactions: readonly WrittenTransaction[]): string {
  const { requestId, verdict, request, moves, submissions, losses, budgets } = story;
  const held = request && [
    `  ${request.action} of ${request.signer}: ${request.state}, handed to the sender ${request.attempts} times`,
    `  signatures: ${JSON.stringify(request.signatures)}`,
    ...(request.gas === undefined ? [] : [`  simulated gas: ${request.gas}`]),
    ...(request.outcome === undefined ? [] : [`  outcome: ${JSON.stringify(request.outcome)}`]),
  ];
  return [
    `Request ${requestId}`,
    ...(held ?? [`  ${verdict?.action} of ${verdict?.signer}: never claimed by this relayer`]),
    ...(verdict === undefined ? [] : describeVerdict(verdict)),
    ...moves.map(({ state, by, atMs }) => `  ${at(atMs)}  ${state}  by ${by}`),
    ...submissions.map(describeSubmission),
    ...transactions.map(describeTransaction),
    ...losses.map(({ wei, gift, atMs }) => `  ${at(atMs)}  lost by it: ${wei} wei, and ${gift} base units of credits`),
    ...budgets.map(describeExceeded),
  ].join('\n');
}
