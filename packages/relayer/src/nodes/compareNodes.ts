import { ChainError } from '../chain/chainError.ts';
import type { ForwarderPolicy } from '../chain/chainReader.ts';
import type { RelayerContext, RelayNode } from '../lifecycle/context.ts';
import { findMost, MAJORITY } from './askNodes.ts';

/** By how much the prices of gas differ that honest nodes name, each by its own newest block and what it suggests as tip. */
const TIMES = 4n;

/** How often all of them are asked while requests are evaluated by what they say, and while none are, in milliseconds. */
const LOOK_EVERY_MS = 30_000;
const IDLE_LOOK_MS = 600_000;

/** A node's facts that every evaluation rests on. */
interface Answer {
  readonly node: number;
  /** Of a unit of gas, in wei. */
  readonly price: bigint;
  readonly policy: ForwarderPolicy;
}

/** @returns undefined of one that does not answer */
async function readNode({ reader }: RelayNode, node: number): Promise<Answer | undefined> {
  try {
    const [{ gasPrice: price }, policy] = await Promise.all([reader.head(), reader.policy()]);
    return { node, price, policy };
  } catch (error) {
    if (error instanceof ChainError) return undefined;
    throw error;
  }
}

const isNear = (one: bigint, other: bigint) => one <= TIMES * other && other <= TIMES * one;

/** One that names a price far from that of two others, which are near each other. */
function isDear({ price }: Answer, others: readonly Answer[]): boolean {
  const far = others.filter((other) => !isNear(price, other.price));
  return far.some((one, index) => far.slice(index + 1).some((other) => isNear(one.price, other.price)));
}

const describePolicy = ({ policy }: Answer) =>
  `that this relayer is ${policy.isOfficial ? '' : 'not '}official, with a window of ${policy.priorityWindow} s, an age of ${policy.maxAge} s and a share of ${policy.shareBps}`;

function listAlone(said: readonly Answer[]) {
  const most = findMost(said, describePolicy);
  return said.flatMap((one) => {
    const others = said.filter((other) => other !== one);
    const says = `that it is ${one.price} wei, and the others ${others.map(({ price }) => price).join(' and ')}`;
    const price = isDear(one, others) ? [{ node: one.node, subject: 'the price of gas', says }] : [];
    const isAlone = most.length >= MAJORITY && !most.includes(one);
    return isAlone ? [...price, { node: one.node, subject: 'the Forwarder', says: describePolicy(one) }] : price;
  });
}

/** The differences between two nodes, of which nothing says who is right: for the operator. */
function describeDifferences([one, other]: readonly Answer[], names: readonly string[]): ReadonlyMap<string, string> {
  const differences = new Map<string, string>();
  if (one === undefined || other === undefined) return differences;
  const report = (subject: string, describe: (said: Answer) => string) => {
    const each = [one, other].map((said) => `${names[said.node]} says ${describe(said)}`).join('; ');
    differences.set(
      subject,
      `of ${subject}, ${each}; one of them lies or lags: take it out of RPC_URL, or name three nodes`,
    );
  };
  if (!isNear(one.price, other.price)) report('the price of gas', ({ price }) => `that it is ${price} wei`);
  if (describePolicy(one) !== describePolicy(other)) report('the Forwarder', describePolicy);
  return differences;
}

/**
 * Makes the look at what each node says of what all requests are evaluated by: the price of gas, and the Forwarder's windows and shares. These
 * are read from one node, which could have everything left; beside two others it is found out, and asked only if no other answers. If two
 * differ, the operator is shown what each says.
 *
 * @returns looks, but not too often; it throws nothing
 * @see docs/specification.md NODE-5
 */
export function createNodeComparison({ chain, events, monotonicNow }: RelayerContext): () => Promise<void> {
  const { nodes, state } = chain;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  return async function compareNodes() {
    const everyMs = state.isPricedSince(lookedAtMs) ? LOOK_EVERY_MS : IDLE_LOOK_MS;
    if (nodes.length < MAJORITY || monotonicNow() - lookedAtMs < everyMs) return;
    lookedAtMs = monotonicNow();
    const said = (await Promise.all(nodes.map(readNode))).filter((one) => one !== undefined);
    for (const alone of listAlone(said)) events.emit({ type: 'node-outlier', ...alone });
    const names = nodes.map(({ name }) => name);
    if (said.length !== MAJORITY) return;
    for (const [subject, text] of describeDifferences(said, names))
      events.emit({ type: 'nodes-differ', subject, text });
  };
}
