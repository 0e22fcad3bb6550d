/** Apps: programs that write through the SDK's user client, on a server and on a phone that share one key and know nothing of each other. */
import { setTimeout as pause } from 'node:timers/promises';
import { cloudAbi } from '@prism-gateway/contracts';
import type { RequestRecord } from '@prism-gateway/protocol';
import { hashRequest } from '@prism-gateway/protocol/typed-data';
import { createGatewayClient, createUserClient, isGatewayError, quoteFee, type Submission } from '@prism-gateway/sdk';
import type { PrismUser } from '@prism-gateway/testing/world';
import { createPublicClient, type Hex, http, toHex } from 'viem';
import type { Random } from '../core/random.ts';
import { CHAIN_ID, CHAIN_NAME, CREDITS_PER_ETH, type World } from './createWorld.ts';
import { isWell } from './isWell.ts';
import { marketFee, newStory, submitBody, WRITE_GAS } from './postRequest.ts';
import { createService, type Service } from './programs.ts';

/** Something that an app wants written, as its own database has it: it outlives the process. */
interface Write {
  readonly dataId: Hex;
  readonly payload: Hex;
  isDone: boolean;
  /** How long it has not been done although nothing stood in its way, in milliseconds. */
  calmMs: number;
}

/** A program that signs with an app's key. */
export interface Device {
  readonly service: Service;
  readonly user: PrismUser;
  /** The newest last. */
  readonly writes: Write[];
}

/** Writes that a device has under way at a time. */
const WORKERS = 2;
/** Longest between two writes of a worker, and how long it waits before it tries again, in milliseconds. */
const [LONGEST_PAUSE_MS, AGAIN_MS] = [10 * 60_000, 20_000];
/** How long it waits before it looks whether a request pays no more, in milliseconds. */
const PATIENCE_MS = 10 * 60_000;
/** The offer beyond the price of now, in percent: as other users offer. */
const HEADROOM_PERCENT = 100;
/** Longest that a write takes with nothing in its way: it may lose its nonce to the other device twice, and be given up each time. */
const DONE_MS = 30 * 60_000;
/** How often writes are looked at, in milliseconds. */
const LOOK_MS = 60_000;

type Report = (invariant: string, about: string, text: string) => void;

/** Makes the devices of an app. Nothing of them runs yet. */
export function createDevices(world: World, name: string, user: PrismUser): readonly Device[] {
  return [name, `${name}-phone`].map((host) => {
    const writes: Write[] = [];
    const random = world.realm.random.fork(host);
    const main = async () => run(world, { host, user, writes, random });
    return { user, writes, service: createService(world.realm, { name: host, environment: {}, main }) };
  });
}

interface Setting {
  readonly host: string;
  readonly user: PrismUser;
  readonly writes: Write[];
  readonly random: Random;
}

/** Takes up the writes that are not done, and then makes new ones. */
function run(world: World, { host, user, writes, random }: Setting): { stop(): Promise<void> } {
  const { realm, deployment, stories, restores } = world;
  const domain = { chainId: CHAIN_ID, forwarder: deployment.forwarder };
  const publicClient = createPublicClient({ transport: http('http://node-1:8545') });
  const gateway = createGatewayClient({ url: 'http://gateway:8787' });
  const client = createUserClient({ gateway, publicClient, account: user.account, chainName: CHAIN_NAME, domain });
  const left = writes.filter(({ isDone }) => !isDone);
  const stopping = new AbortController();
  const { signal } = stopping;

  async function quote({ dataId, payload }: Write): Promise<bigint> {
    // The rate in 18-decimal fixed point.
    const creditsPerEth = CREDITS_PER_ETH * 10n ** 18n;
    const terms = { client: publicClient, domain, creditsPerEth, headroomPercent: HEADROOM_PERCENT };
    const input = { cloudId: user.cloudId, dataId, payload };
    return (await quoteFee(terms, { action: 'WRITE_DATA_FOR', signer: user.account.address, input })).relayerFee;
  }

  async function submit({ dataId, payload }: Write, relayerFee: bigint, replaces?: Submission): Promise<Submission> {
    const { cloudId, account } = user;
    const { count } = restores;
    const submission = await client.writeData({ cloudId, dataId, payload, relayerFee }, { signal, replaces });
    const { record, nonce } = submission;
    const { action, params } = record;
    const signed = {
      digest: hashRequest({ ...domain, action, params, nonce }),
      nonce,
      cloudId,
      signer: account.address,
    };
    const body = { chainName: CHAIN_NAME, action, params };
    // The app waits for what it was answered, of which an older copy that was put back meanwhile may know nothing.
    const requestId = count === restores.count ? submission.requestId : await submitBody(world, body);
    const story = { requestId, body, kind: 'app', expects: 'either' } as const;
    const offer = { fee: relayerFee, gas: WRITE_GAS, postedAtMs: realm.clock.now() };
    stories.set(requestId, newStory({ ...story, ...signed, ...offer }));
    const text = `${replaces === undefined ? 'writes' : 'writes once more'} with nonce ${nonce}, fee ${relayerFee / 10n ** 18n} credits`;
    realm.log.add({ kind: 'actor', who: host, text, about: [requestId] });
    return submission;
  }

  /** Waits for one that was stored, and offers more with its nonce if that pays no more. */
  async function untilEnded(write: Write, submission: Submission, fee: bigint): Promise<RequestRecord> {
    try {
      return await submission.wait({ signal, timeoutMs: PATIENCE_MS });
    } catch (error) {
      if (!isGatewayError(error, 'WAIT_TIMED_OUT')) throw error;
    }
    const now = await quote(write);
    if (now <= 2n * fee) return await untilEnded(write, submission, fee);
    return await untilEnded(write, await submit(write, now, submission), now);
  }

  async function attempt(write: Write): Promise<void> {
    // Of an attempt that was cut off the app does not know what became.
    const args = [user.cloudId, write.dataId] as const;
    write.isDone = await publicClient.readContract({
      address: deployment.cloud,
      abi: cloudAbi,
      functionName: 'hasData',
      args,
    });
    if (write.isDone) return;
    const fee = await quote(write);
    const { status, errorMessage } = await untilEnded(write, await submit(write, fee), fee);
    if (status === 'failed') throw new Error(errorMessage);
    write.isDone = true;
  }

  async function carryOut(write: Write): Promise<void> {
    for (;;) {
      await attempt(write).catch((error: unknown) => {
        const text = `cannot write: ${error instanceof Error ? error.message : error}`;
        realm.log.add({ kind: 'actor', who: host, text });
      });
      if (write.isDone || signal.aborted) return;
      await pause(AGAIN_MS);
    }
  }

  async function work(): Promise<void> {
    while (!signal.aborted) {
      const write = left.shift() ?? {
        ...{ dataId: toHex(random.bytes(32)), payload: toHex(random.bytes(random.between(1, 200))) },
        ...{ isDone: false, calmMs: 0 },
      };
      if (!writes.includes(write)) writes.push(write);
      await carryOut(write);
      await pause(random.between(0, LONGEST_PAUSE_MS));
    }
  }

  for (let worker = 0; worker < WORKERS; worker++) void work();
  return { stop: async () => stopping.abort() };
}

/**
 * Watches what apps want written.
 *
 * @returns looks, each minute
 */
export function createAppChecks(world: World, isCalm: () => boolean, report: Report): () => void {
  const { apps, stories, nodes } = world;
  const isCheap = ({ fee, gas }: { readonly fee: bigint; readonly gas: bigint }) =>
    fee * 2n < marketFee(world, gas) * 3n;

  return function look() {
    const [node] = nodes;
    if (!isCalm() || node === undefined || !isWell(node)) return;
    for (const { service, user, writes } of apps) {
      const open = [...stories.values()].filter(
        ({ signer, endedAtMs }) => signer === user.account.address && endedAtMs === undefined,
      );
      // What was signed before prices rose waits until they fall, and what comes after it as well.
      if (!service.isUp() || open.some(isCheap)) continue;
      for (const write of writes.filter(({ isDone }) => !isDone)) {
        write.calmMs += LOOK_MS;
        if (write.calmMs <= DONE_MS) continue;
        const minutes = write.calmMs / 60_000;
        report(
          'apps',
          user.account.address,
          `${service.name} has not got ${write.dataId} written for ${minutes} minutes.`,
        );
      }
    }
  };
}
