import type { RpcClient } from './createRpcClient.ts';

/** The newest block, as a node reports it. */
interface ReportedHead {
  readonly number: bigint;
  /** Unix seconds. */
  readonly seconds: bigint;
}

/** A node whose newest block is no older than another's by more than this is up to date, in seconds. */
const FRESH_SECONDS = 30n;
/** More blocks than any chain makes in that time: a node as far ahead of one that is up to date has made its blocks up. */
const FAR_BLOCKS = 256n;
/** As few are enough if two nodes say otherwise. */
const FAR_BLOCKS_OF_TWO = 8n;
/** How far a block's time may be ahead of this machine's, or of the other nodes' blocks, in seconds: clocks differ. */
const FUTURE_SECONDS = 60n;
/** How long a node may take to answer, in milliseconds: a silent one holds nobody up. */
const TIMEOUT_MS = 1000;

const isQuantity = (value: unknown): value is string => typeof value === 'string' && /^0x[0-9a-f]{1,16}$/i.test(value);

/** @returns undefined of a node that does not answer in time, or nonsense */
async function readHead(client: Pick<RpcClient, 'request'>): Promise<ReportedHead | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, TIMEOUT_MS);
  // One without an answer says nothing here; whoever asks it for something gets its error.
  const asked = client.request('eth_getBlockByNumber', ['latest', false]).catch(() => undefined);
  const { number, timestamp } = Object(await Promise.race([asked, late]));
  clearTimeout(timer);
  return isQuantity(number) && isQuantity(timestamp)
    ? { number: BigInt(number), seconds: BigInt(timestamp) }
    : undefined;
}

/** Whether a newest block cannot be true if those of the others are. */
function isMadeUp(head: ReportedHead, others: readonly ReportedHead[], nowSeconds: bigint): boolean {
  // This machine's clock may be slow, and another node may stand still: both together say nothing against two that agree.
  const isLater = (than: bigint) => head.seconds > than + FUTURE_SECONDS;
  if (isLater(nowSeconds) && others.length > 0 && others.every(({ seconds }) => isLater(seconds))) return true;
  const fresh = others.filter(({ seconds }) => seconds + FRESH_SECONDS >= head.seconds);
  const countBehind = (blocks: bigint) => fresh.filter(({ number }) => head.number > number + blocks).length;
  return countBehind(FAR_BLOCKS) > 0 || countBehind(FAR_BLOCKS_OF_TWO) > 1;
}

/**
 * Asks nodes for their newest blocks, and says which of them have made theirs up: its time is in the future by this clock and by all other
 * nodes, or it is further beyond that of a node that is up to date than any chain could have come. A node that has stood still for long says
 * nothing against the others.
 *
 * @param nowSeconds - Unix time
 * @returns in the order of the nodes: the block, if it is believed
 * @see docs/specification.md NODE-1
 */
export async function compareHeads(
  clients: readonly Pick<RpcClient, 'request'>[],
  nowSeconds: bigint,
): Promise<readonly { readonly head: ReportedHead | undefined; readonly isMadeUp: boolean }[]> {
  const heads = await Promise.all(clients.map(readHead));
  return heads.map((head) => {
    if (head === undefined) return { head, isMadeUp: false };
    const others = heads.filter((other) => other !== undefined).filter((other) => other !== head);
    return { head, isMadeUp: isMadeUp(head, others, nowSeconds) };
  });
}
