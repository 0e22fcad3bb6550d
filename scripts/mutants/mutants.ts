import { contractMutants } from './contractMutants.ts';
import type { Mutant } from './mutant.ts';
import { mutantsOf } from './mutantsOf.ts';

const sqlite = 'packages/gateway/src/drivers/sqlite';
const storeTests = [`${sqlite}/requestStore.test.ts`];
const stateTests = ['packages/protocol/src/requests/status.test.ts', ...storeTests];
const moveTests = ['packages/gateway/src/requests/moves.test.ts'];
const blackBoxTests = ['create', 'list'].map((name) => `acceptance/tests/${name}.test.ts`);

const stateMachine: readonly Mutant[] = [
  ...mutantsOf('packages/protocol/src/requests/status.ts', stateTests, [
    ["claim: { from: 'pending'", "claim: { from: 'processing'"],
    ["claim: { from: 'pending', to: ['processing']", "claim: { from: 'pending', to: ['success']"],
    ["takeOver: { from: 'processing'", "takeOver: { from: 'pending'"],
    ["report: { from: 'processing'", "report: { from: 'pending'"],
    ["to: ['success', 'failed']", "to: ['success']"],
    ['move.from === from && ', ''],
  ]),
  ...mutantsOf('packages/gateway/src/drivers/sql/moves.ts', storeTests, [
    ['const isPending = status === MOVES.claim.from;', 'const isPending = true;'],
    ['>= maxOpenClaims', '> maxOpenClaims'],
    ['if (held?.record.status === MOVES.report.from && isSame(', 'if (held !== undefined && isSame('],
    ['MOVES.report.from && isSame(held.record.claimedBy, relayer)', 'MOVES.report.from'],
    ['if (held?.record.status === from && isSame(', 'if (held !== undefined && isSame('],
    ['from && isSame(held.record.claimedBy, relayer) && isMeant', 'from && isMeant'],
    ['held.callId === callId ?', "held.callId !== '' ?"],
  ]),
  ...mutantsOf('packages/gateway/src/rules/claims.ts', storeTests, [
    ['claimedAt <= limit', 'claimedAt >= limit'],
    ['heldSince <= firstClaimedAfter', 'heldSince > firstClaimedAfter'],
    ['releasedAt > leaseExpiredAt', 'releasedAt <= leaseExpiredAt'],
    ['isSameRelayer(claimedBy, claim.relayer) &&', ''],
  ]),
  ...mutantsOf(`${sqlite}/createWrite.ts`, storeTests, [['if (changes === 0) return CREATED;', '']]),
  ...mutantsOf('packages/gateway/src/requests/claim.ts', moveTests, [
    ["if (transition.outcome === 'conflict') {", 'if (false) {'],
    ["if (transition.outcome === 'missing') throw new RequestNotFoundError(requestId);", ''],
    ['leaseMs > 0 && {', 'leaseMs >= 0 && {'],
  ]),
  ...mutantsOf('packages/gateway/src/requests/report.ts', moveTests, [
    ["if (transition.outcome === 'conflict') throw conflictOf(transition.record, report.outcome.status);", ''],
    ['record.status !== REQUEST_MOVES.report.from', 'record.status === REQUEST_MOVES.report.from'],
  ]),
  ...mutantsOf('packages/gateway/src/requests/create.ts', blackBoxTests, [
    ['status: INITIAL_STATUS', "status: 'processing'"],
    ['signer: params.signer,\n    status', 'signer: chainName,\n    status'],
  ]),
];

const authTests = ['relayer', 'lowS'].map((name) => `packages/gateway/src/auth/${name}.test.ts`);

const relayerAuth: readonly Mutant[] = [
  ...mutantsOf('packages/gateway/src/auth/relayer.ts', authTests, [
    ['HALF_ORDER.compare(bytes, 32, 64) < 0', 'HALF_ORDER.compare(bytes, 32, 64) < -1'],
    ['Math.abs(now - Number(timestamp))', '(now - Number(timestamp))'],
    ['Math.abs(now - Number(timestamp))', '(Number(timestamp) - now)'],
    ['> RELAYER_TIMESTAMP_SKEW_MS', '>= RELAYER_TIMESTAMP_SKEW_MS'],
    ['/^[0-9]{1,16}$/', '/^[0-9]{1,20}$/'],
    ['/^0x[0-9a-fA-F]{130}$/', '/^0x[0-9a-fA-F]{130,}$/'],
    ['value === 27 || value === 28', 'value === 27'],
    ['if (relayer === undefined) throw', 'if (relayer === undefined && false) throw'],
    ['relayer.suspendedAt !== undefined', 'false'],
    ['!== address.toLowerCase()', '!== address'],
    ['/%|\\/\\/|', '/\\/\\/|'],
    ['keccak256(request.body)', 'keccak256(new Uint8Array())'],
    ['client: `relayer:${address.toLowerCase()}`', 'client: `relayer:${address}`'],
    [
      'Buffer.byteLength(message)',
      'message.length',
      'The message is ASCII: a path with "%" is refused, and whatever else is not ASCII reaches the gateway as "%".',
    ],
  ]),
  ...mutantsOf(
    'packages/protocol/src/auth/relayerAuth.ts',
    ['packages/protocol/src/auth/relayerAuth.test.ts'],
    [
      ['method.toUpperCase()', 'method'],
      ['Path: ${path}', 'Path: /'],
      ['5 * 60 * 1000', '10 * 60 * 1000'],
    ],
  ),
];

const s3 = 'packages/gateway/src/drivers/s3';
const s3Tests = ['', '.oracle'].map((kind) => `${s3}/createS3Signer${kind}.test.ts`);
const disk = 'packages/gateway/src/drivers/disk';
const diskTests = ['createDiskObjects', 'objectUrls', 'bucketHeaders'].map((name) => `${disk}/${name}.test.ts`);

const presigners: readonly Mutant[] = [
  ...mutantsOf(`${s3}/createS3Signer.ts`, s3Tests, [
    ['Math.floor(order.nowMs / 1000) * 1000', 'order.nowMs'],
    ["order.operation === 'put' ?", "order.operation === 'get' ?"],
    ["'if-none-match': '*',", ''],
    ["names.join(';')", "names.toReversed().join(';')"],
    ["{ 'content-length': String(size) }", "{ 'x-content-length': String(size) }"],
    ['{ ...order, lifetimeSeconds, nowMs: startMs }', '{ ...order, nowMs: startMs }'],
    ['response-content-disposition=attachment', 'response-content-disposition=inline'],
    ['\\nUNSIGNED-PAYLOAD`', '\\nUNSIGNED`'],
    ['order.nowMs + order.lifetimeSeconds * 1000', 'order.nowMs + order.lifetimeSeconds'],
  ]),
  ...mutantsOf(`${s3}/createS3Signer.ts`, s3Tests, [
    ['day.day !== longDate.slice(0, 8) || ', ''],
    ['left.sessionToken === right.sessionToken', 'true'],
    ['secondMs === startMs && ', ''],
  ]),
  ...mutantsOf(`${disk}/createUrlSeal.ts`, diskTests, [
    ['method === request.method &&', 'method !== undefined &&'],
    ['left.length === right.length && timingSafeEqual(left, right)', 'left.length === right.length'],
    ['${objectPath}\\n${expiresSeconds}\\n', '${objectPath}\\n'],
    ['prism-object-url-1\\n${method}\\n${objectPath}', 'prism-object-url-1\\n${method}'],
    ['prism-object-url-1\\n${method}\\n', 'prism-object-url-1\\n'],
    ['searchParams.size === 3 + Number(headers', 'searchParams.size >= 3 + Number(headers'],
    ['`size:${size}\\n`', "''"],
    ['`if-none-match:${bound.ifNoneMatch}\\n', '`\\n'],
    ['x-amz-checksum-sha256:${bound.checksum}', 'x-amz-checksum-sha256:'],
  ]),
];

const engine = 'packages/sender/src/engine';
const sending = 'packages/sender/src/openSender.test.ts';
const lost = 'packages/sender/test/lostTransactions.test.ts';
const events = 'packages/sender/test/chainEvents.test.ts';

const nonces: readonly Mutant[] = [
  ...mutantsOf(
    `${engine}/reserve.ts`,
    [sending, lost],
    [
      ['nonce: engine.nextNonce + place', 'nonce: engine.nextNonce'],
      ['engine.nextNonce += group.length;', 'engine.nextNonce += 1;'],
      ['engine.nextNonce += group.length;', ''],
      ['engine.journal.commit({ intents: stored, versions });', ''],
      ['Math.min(room, GROUP_SIZE)', 'GROUP_SIZE'],
    ],
  ),
  ...mutantsOf(
    `${engine}/finalize.ts`,
    [sending, lost, events],
    [
      ['confirmations: intent.confirmations })) end', 'confirmations: intent.confirmations - 1 })) end'],
      ["version.kind === 'cancel'", "version.kind !== 'cancel'"],
      [
        'intent.mined = undefined;',
        '',
        'Where an intent was mined is asked only of those in the state `mined`, which each enters with its place: what is left is read by nobody.',
      ],
    ],
  ),
  ...mutantsOf(
    `${engine}/finalize.ts`,
    [lost, events],
    [
      ['{ head: head.number, confirmations: intent.confirmations }', '{ head: head.number, confirmations: 0 }'],
      ['if (failure !== undefined) {', 'if (failure === undefined) {'],
      ['engine.queue.push(intent);', ''],
      [
        '(await engine.chain.accountNonce(passed)) <= nonce',
        '(await engine.chain.accountNonce(passed)) < nonce',
        'The head is then taken for the block of a nonce that nothing has consumed: no transaction in it has that nonce, and two calls are wasted.',
      ],
    ],
  ),
  ...mutantsOf(
    `${engine}/fillGaps.ts`,
    [lost],
    [
      ['const MIN_GAP_ROUNDS = 3;', 'const MIN_GAP_ROUNDS = 1_000_000;'],
      ['isAllowed ? await raise', 'false ? await raise'],
      ['isAllowed ? await raise(engine, last)', 'isAllowed ? undefined'],
      ['engine.monotonicNow() < engine.unblocking.untilMs', 'true'],
      ['Math.max(0, highest - count)', 'Math.max(0, highest - count - 1)'],
    ],
  ),
];

const chain = 'packages/payments/src/chain';
const guardTests = ['packages/payments/test/broadcastGuard.test.ts'];

const broadcastGuard: readonly Mutant[] = [
  ...mutantsOf(`${chain}/createBroadcastGuard.ts`, guardTests, [
    ['some((found) => isCounted(options, found))', 'some(() => false)'],
    ['isAlone && isOurs && !isPaid', 'isOurs && !isPaid'],
    ['isAlone && isOurs && !isPaid', 'isAlone && !isPaid'],
    ['isOut || (await', 'false || (await'],
    ['if (!isPlain) return {', 'if (isPlain) return {'],
    ['return mayPay;', 'return true;'],
    ['broadcasts.add({ nonce, raw });', ''],
  ]),
  ...mutantsOf(
    `${chain}/isCounted.ts`,
    ['packages/payments/test/strangers.test.ts'],
    [['isKnown || amount > 0n', 'isKnown']],
  ),
  ...mutantsOf(
    'packages/payments/src/flow/findPayout.ts',
    ['packages/payments/test/strangers.test.ts'],
    [
      ['fault === undefined) ?? evaluated[0]', 'fault !== undefined)'],
      ['      : isOwedAmount(config, payment, payout.amount)', '      : payout.amount > 0n'],
    ],
  ),
];

/** Changes to the modules that carry the promises; each must make a test fail, or say why none can. */
export const mutants: readonly Mutant[] = [
  ...stateMachine,
  ...relayerAuth,
  ...presigners,
  ...nonces,
  ...broadcastGuard,
  ...contractMutants,
];
