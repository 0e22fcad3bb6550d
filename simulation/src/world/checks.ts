/** Checks the invariants again and again. */
import { setTimeout as pause } from 'node:timers/promises';
import type { RequestRecord } from '@prism-gateway/protocol';
import { isGatewayError } from '@prism-gateway/sdk';
import type { Hex } from 'viem';
import { createAppChecks } from './apps.ts';
import { createBoundChecks } from './checkBounds.ts';
import { createHealthChecks } from './checkHealth.ts';
import { startMoveChecks } from './checkMoves.ts';
import { inBackground, type World } from './createWorld.ts';
import { isWell } from './isWell.ts';
import { createPaymentChecks } from './payments/checkPayments.ts';
import { marketFee } from './postRequest.ts';
import { readNonce } from './readNonce.ts';
import { createReceiverChecks } from './receivers.ts';
import type { Story } from './story.ts';
import { BY_OPERATOR, isShutOut } from './whitelistFaults.ts';

/** How often the world is looked at, in milliseconds; and how many records are read at once, of which the newest are. */
const LOOK_MS = 10_000;
const NEWEST = 100;
/** Longest that a request which pays may be pending with nothing in its way, in milliseconds. */
const PENDING_BOUND_MS = 5 * 60_000;
/** How much longer a hostile wallet's may take: beyond the budget that it has used up, a relayer looks once an hour what became of it (RELAY-17). */
const HOSTILE_MS = 65 * 60_000;
/** Longest until it has ended: a lease of a relayer that died, and what comes after. */
const OPEN_BOUND_MS = 40 * 60_000;
/** Age of a liar's claim by which an honest relayer has looked at it: a lease, a third of one, and a minute between looks. */
const TAKEN_OVER_MS = 21 * 60_000;
/** Longest until a request that cannot succeed has failed: twice the default patience, and a lease with the third that others wait. */
const FAIL_BOUND_MS = 25 * 60_000;
/** Longest until a relayer that lied is suspended, in milliseconds. */
const LIAR_BOUND_MS = 2 * 3_600_000;
/** Blocks after which the chain's word is final for the records. */
const CONFIRMATIONS = 6;
/** Confirmations that a relayer waits for by default, the block that includes its transaction among them. */
const REPORTED_AT = 3;
/** Default of MAX_HEAD_AGE_SECONDS, less a block that comes late, in milliseconds. */
const MAX_HEAD_AGE_MS = 45_000;
/** Kinds of requests whose signer takes their nonce back. */
const TAKEN_BACK: ReadonlySet<string> = new Set(['taken back', 'front run']);
/** Kinds of requests of which the signer's own code may say yes to any nonce. */
const SAYS_YES: ReadonlySet<string> = new Set(['turncoat', 'wallet twice']);
/** How long a record may say other than the chain after that, in milliseconds. */
const RECORD_BOUND_MS = 30 * 60_000;

/** Watches the world until it ends. */
export function startChecks(world: World): void {
  const { realm, stories, executions, uses, undone, refreed, breaches, chain, troubles } = world;
  const reported = new Set<string>();
  const honest = new Set(world.relayerKeys.map(({ address }) => address.toLowerCase()));
  const wrongSince = new Map<string, number>();

  function report(invariant: string, about: string, text: string): void {
    const key = `${invariant} ${about}`;
    if (reported.has(key)) return;
    reported.add(key);
    breaches.push({ invariant, about, text, atMs: realm.clock.now() });
    realm.log.add({ kind: 'breach', who: invariant, text, about: [about] });
  }

  /** The newest records, by id: most of what is open is among them. */
  async function readNewest(): Promise<ReadonlyMap<string, RequestRecord>> {
    const newest = world.client.listRequests({ order: 'desc', limit: NEWEST });
    const { items } = await newest.page().catch(() => ({ items: [] }));
    return new Map(items.map((record) => [record.requestId, record]));
  }

  /** Reads a record as anybody can. */
  async function readRecord(requestId: string): Promise<RequestRecord | undefined> {
    return await world.client.getRequest(requestId).catch((error: unknown) => {
      if (stories.has(requestId) && isGatewayError(error, 'NOT_FOUND'))
        report('acknowledged', requestId, 'A request that was answered with 201 is not found.');
      return undefined;
    });
  }

  function refresh(story: Story, record: RequestRecord): void {
    story.status = record.status;
    story.claimedBy = record.claimedBy?.toLowerCase();
    story.claimedAtMs = record.claimedAt === undefined ? undefined : Date.parse(record.claimedAt);
    story.txHash = record.txHash;
    story.errorMessage = record.errorMessage;
    if ((record.status !== 'success' && record.status !== 'failed') || story.endedAtMs !== undefined) return;
    story.endedAtMs = realm.clock.now();
    if (record.status === 'success') checkDepth(story);
  }

  /** An honest relayer reports what is confirmed. Called at most a look after the report. */
  function checkDepth(story: Story): void {
    const { requestId, kind, claimedBy = '' } = story;
    if (!honest.has(claimedBy) || troubles.has('reorganisation')) return;
    const found = entriesOf(story).flatMap(({ digest = '0x' }) => executions.get(digest) ?? []);
    const depth = Math.max(...found.map(({ blockNumber }) => chain.head().number - blockNumber + 1));
    if (found.length > 0 && depth < REPORTED_AT)
      report('truth', requestId, `A request (${kind}) was reported at ${depth} confirmations.`);
  }

  /** By a clock that is ahead, the newest block of an only node is too old to end anything (RELAY-20). */
  const canEnd = ({ host }: World['relayers'][number]) =>
    world.nodes.length > 1 || realm.clockOf(host).offMs < MAX_HEAD_AGE_MS;

  /** Whether nothing is wrong that keeps everybody from being served. */
  const isCalm = () =>
    troubles.size === 0 &&
    world.gateway.isUp() &&
    world.relayers.some((relayer) => relayer.isUp() && canEnd(relayer) && !isShutOut(world, relayer)) &&
    world.nodes.some(isWell);

  const isExecuted = (digest: Hex | undefined) => digest !== undefined && (executions.get(digest) ?? []).length > 0;

  /** All that a request has of signatures, and the nonces that they use. */
  const entriesOf = ({ signer, nonce, digest, cloudId, entries }: Story) =>
    entries ?? [{ signer, nonce, digest, cloudId }];
  /** Whether a reorganisation has undone a request, if only for a time: one deeper than the confirmations, which the watchtower reports. */
  const wasUndone = (story: Story) =>
    // By its transaction: an account that says yes to anything has it carried out with another nonce, and so another digest.
    undone.has(story.txHash as Hex) || entriesOf(story).some(({ digest = '0x' }) => undone.has(digest));

  /** Whether a reorganisation has taken away that a nonce was taken back, which its signer does not do again. */
  const wasRefreed = ({ kind, signer }: Story) => TAKEN_BACK.has(kind) && refreed.has(signer.toLowerCase());

  /** Whether a liar has ended a request that nothing has carried out: what was signed for later nonces may be given up before that is found. */
  const isLie = ({ claimedBy, endedAtMs, digest }: Story) =>
    endedAtMs !== undefined && claimedBy !== undefined && !honest.has(claimedBy) && !isExecuted(digest);

  /** Whether something else has used a request's nonce: another request of its signer, posted without an answer maybe, or its signer, who took it back. */
  const isNonceTaken = ({ signer, nonce, digest = '0x' }: Story) =>
    [...(uses.get(`${signer.toLowerCase()} ${nonce}`) ?? [])].some((by) => by !== digest);

  /**
   * Whether something else is the reason why a request fails: its nonce was taken, or is to be taken back; or a request that it builds on was
   * undone, of the same signer or the same prism; or was ended by a lie.
   */
  function isOvertaken(story: Story): boolean {
    if (isNonceTaken(story)) return true;
    const { requestId, signer, nonce } = story;
    const prisms = new Set(entriesOf(story).map(({ cloudId }) => cloudId));
    return [...stories.values()].some(
      (other) =>
        other.requestId !== requestId &&
        ((other.cloudId !== undefined && prisms.has(other.cloudId) && wasUndone(other)) ||
          entriesOf(other).some(
            (entry) =>
              entry.signer === signer &&
              ((entry.nonce === nonce && TAKEN_BACK.has(other.kind)) ||
                (entry.nonce < nonce && (wasUndone(other) || isLie(other) || wasRefreed(other)))),
          )),
    );
  }

  /** The required end of a request now: once its nonce is used without it, it can only fail. */
  function outlook(story: Story, nonce: bigint): 'waits' | 'success' | 'failed' | 'either' {
    if (nonce < story.nonce) return 'waits';
    // Nobody looks closer at what does not pay, whether it would succeed or not; nor at a wallet's, whose nonce no signature shows, if it is used.
    const isCheap = story.fee * 2n < marketFee(world, story.gas) * 3n;
    if (isCheap && (nonce === story.nonce || story.kind.startsWith('wallet'))) return 'waits';
    if (nonce === story.nonce) return story.expects;
    if (isExecuted(story.digest)) return 'success';
    // Its account says yes to a later nonce, too, in one block of two: nobody can say that it would never be carried out.
    return story.kind === 'turncoat' ? 'either' : 'failed';
  }

  /** Whether an open request that is in its turn has a nonce. What a false success has ended the watchtower posts again, under another id. */
  async function isHeld(signer: Hex, nonce: bigint): Promise<boolean> {
    for (const story of stories.values()) {
      if (story.endedAtMs !== undefined && !(story.status === 'success' && isLie(story))) continue;
      const entries = entriesOf(story);
      if (!entries.some((entry) => entry.signer === signer && entry.nonce === nonce)) continue;
      const nexts = await Promise.all(entries.map((entry) => readNonce(world, entry.signer)));
      if (entries.every((entry, index) => entry.nonce <= (nexts[index] ?? 0n))) return true;
    }
    return false;
  }

  async function checkLiveness(story: Story): Promise<void> {
    if (story.endedAtMs !== undefined || !isCalm()) return;
    const expected = outlook(story, await readNonce(world, story.signer));
    if (expected === 'waits' || expected === 'either') return;
    // A batch of several users waits for each of them: a reorganisation may have undone what one wrote before. One that is to fail for that waits
    // only for what is open.
    for (const { signer, nonce } of story.entries ?? []) {
      const next = await readNonce(world, signer);
      if (next < nonce && (story.expects !== 'failed' || (await isHeld(signer, next)))) return;
    }
    if (story.outlook !== expected) {
      Object.assign(story, { outlook: expected, openCalmMs: 0, pendingCalmMs: 0 });
    }
    const heldByLiar = story.claimedBy !== undefined && !honest.has(story.claimedBy) && story.status === 'processing';
    // Honest relayers take it over a third of a lease after the end of one.
    if (heldByLiar && realm.clock.now() - (story.claimedAtMs ?? 0) < TAKEN_OVER_MS) return;
    story.openCalmMs += LOOK_MS;
    if (story.status === 'pending') story.pendingCalmMs += LOOK_MS;
    const { kind, requestId } = story;
    const waited = `${Math.round(story.openCalmMs / 1000)} s (${Math.round(story.pendingCalmMs / 1000)} s pending)`;
    const moreMs = kind === 'turncoat' ? HOSTILE_MS : 0;
    if (expected === 'success' && story.pendingCalmMs > PENDING_BOUND_MS + moreMs) {
      report('liveness', requestId, `A valid request (${kind}) whose fee pays is left pending: ${waited}.`);
    }
    if (expected === 'success' && story.openCalmMs > OPEN_BOUND_MS + moreMs) {
      report('liveness', requestId, `A valid request (${kind}) has not ended: ${waited}.`);
    }
    if (expected === 'failed' && story.openCalmMs > FAIL_BOUND_MS) {
      report('patience', requestId, `A request that cannot succeed (${kind}) is not given up: ${waited}.`);
    }
  }

  /** The record and the chain, once both had time. */
  function checkTruth(story: Story): void {
    if (story.digest === undefined || story.endedAtMs === undefined) return;
    const head = chain.head().number;
    const { requestId, kind } = story;
    const each = entriesOf(story).map(({ digest = '0x' }) => executions.get(digest) ?? []);
    for (const { length } of each)
      if (length > 1) report('executed once', requestId, `A signature (${kind}) was executed ${length} times.`);
    // A wallet that says yes to anything says so to any nonce: a reorganisation may have made an earlier one free again.
    const found =
      SAYS_YES.has(kind) && story.txHash !== undefined
        ? [...executions.values()].flat().filter(({ txHash }) => txHash === story.txHash)
        : each.flat();
    const isDeep = found.some(({ blockNumber }) => head - blockNumber >= CONFIRMATIONS);
    const isWrong =
      (story.status === 'success' && found.length === 0 && !wasUndone(story)) ||
      (story.status === 'failed' && isDeep && story.expects !== 'either');
    const isFalse = story.status === 'failed' && story.expects === 'success';
    if (!isWrong && !isFalse) return void wrongSince.delete(requestId);
    const since = wrongSince.get(requestId) ?? realm.clock.now();
    wrongSince.set(requestId, since);
    const by = story.claimedBy !== undefined && honest.has(story.claimedBy) ? 'an honest relayer' : 'a liar';
    if (isFalse && by === 'an honest relayer' && !isOvertaken(story)) {
      report('truth', requestId, `An honest relayer reported a valid request (${kind}) failed: ${story.errorMessage}.`);
    }
    if (isWrong && by === 'an honest relayer' && realm.clock.now() - since > RECORD_BOUND_MS) {
      report('truth', requestId, `The record (${kind}) says ${story.status}, the chain does not.`);
    }
  }

  async function checkRelayers(): Promise<void> {
    const list = await world.admin.listRelayers().catch(() => undefined);
    if (list === undefined) return;
    const suspended = new Map(
      list.relayers
        .filter(({ suspendedAt }) => suspendedAt !== undefined)
        .map((one) => [one.address.toLowerCase(), one]),
    );
    for (const [address, { suspendReason }] of suspended) {
      if (honest.has(address) && !world.retired.has(address) && suspendReason !== BY_OPERATOR)
        report('honest suspended', address, `An honest relayer was suspended: ${suspendReason}.`);
    }
    // With one node the watchtower may not enforce anything (WATCH-3).
    for (const [address, sinceMs] of world.nodes.length > 1 ? world.lies : []) {
      if (!suspended.has(address) && realm.clock.now() - sinceMs > LIAR_BOUND_MS)
        report('liar found', address, 'A relayer that lies is not suspended.');
    }
  }

  const payments = world.payments && createPaymentChecks(world, world.payments, report);
  const lookAtHealth = createHealthChecks(world, report);
  const bounds = createBoundChecks(world, report);
  const lookAtReceivers = createReceiverChecks(world, report);
  const lookAtApps = createAppChecks(world, isCalm, report);
  startMoveChecks(world, report);
  inBackground(world, async () => {
    for (let looks = 0; ; looks++) {
      await pause(LOOK_MS);
      await payments?.look(LOOK_MS, looks);
      if (looks % 3 === 0) await lookAtHealth();
      if (looks % 6 === 0) bounds.look();
      if (looks % 6 === 0) await lookAtReceivers();
      if (looks % 6 === 0) lookAtApps();
      const newest = await readNewest();
      for (const story of stories.values()) {
        const isOpen = story.endedAtMs === undefined || realm.clock.now() - story.endedAtMs < RECORD_BOUND_MS + 60_000;
        if (!isOpen) continue;
        let record = newest.get(story.requestId);
        // Older requests seldom move.
        if (record === undefined && looks % (story.endedAtMs === undefined ? 3 : 30) === 0)
          record = await readRecord(story.requestId);
        if (record !== undefined) refresh(story, record);
        await checkLiveness(story);
        checkTruth(story);
      }
      if (looks % 6 === 0) await checkRelayers();
    }
  });
}
