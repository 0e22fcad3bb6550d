import { askEach, type Simulated } from '@prism-gateway/rpc';
import type { ChainReader } from '../chain/chainReader.ts';
import { decodeReason } from '../chain/decodeReason.ts';
import type { NoteDispute } from './createNodeNotes.ts';
import { findMost, MAJORITY } from './gatherVotes.ts';

/** How long the other nodes are waited for once one has answered, and how long one that was silent then is not, in milliseconds. */
const PATIENCE_MS = 2000;
const SILENT_MS = 30_000;

/** Simulates a transaction before it is sent. @returns undefined where nodes do not agree on what it would do @throws ChainError where none answers */
export type SimulateTogether = (...simulation: Parameters<ChainReader['simulate']>) => Promise<Simulated | undefined>;

/** A node by itself, and what it is called. */
export interface SimulatingNode {
  readonly name: string;
  readonly chain: Pick<ChainReader, 'simulate'>;
}

interface Told {
  readonly name: string;
  readonly simulated: Simulated;
}

/** What would come of it, the gas apart: that of two nodes differs by what each knows of the state. */
const describe = ({ simulated }: Told) =>
  'reverted' in simulated ? 'that it would revert' : `that it would return ${simulated.returned}`;

function state({ name, simulated }: Told) {
  if ('reverted' in simulated) return { name, says: `that it would revert: ${decodeReason(simulated.reverted)}` };
  return { name, says: `that it would be carried out, with ${simulated.gas} gas` };
}

/** Of those that agree the one that needs most gas: what is not used is not paid. */
function takeDearest(most: readonly Told[]): Simulated | undefined {
  const gasOf = ({ simulated }: Told) => ('reverted' in simulated ? 0n : simulated.gas);
  return most.toSorted((one, other) => (gasOf(one) < gasOf(other) ? 1 : -1))[0]?.simulated;
}

/**
 * Makes the last simulation of a transaction, which costs money if it is wrong: of several nodes two have to say what it would do, more than
 * say otherwise, or the only one that answers. While they do not agree it is not sent, and the health says which says what.
 *
 * @param ports.chain - the chain as it is read, for a single node
 * @param ports.nodes - each by itself
 * @see docs/specification.md RELAY-15
 */
export function createSimulateTogether(ports: {
  readonly chain: Pick<ChainReader, 'simulate'>;
  readonly nodes: readonly SimulatingNode[];
  readonly noteDispute: NoteDispute;
  readonly now: () => number;
}): SimulateTogether {
  const { chain, nodes, noteDispute, now } = ports;
  if (nodes.length < MAJORITY) return (...simulation) => chain.simulate(...simulation);
  const silentUntilMs = new Map<SimulatingNode, number>();
  return async function simulateTogether(...simulation) {
    const answers = await askEach(nodes, {
      ask: async ({ name, chain: own }) => ({ name, simulated: await own.simulate(...simulation) }),
      isWell: (node) => (silentUntilMs.get(node) ?? 0) <= now(),
      patienceMs: PATIENCE_MS,
      onSilent: (node) => void silentUntilMs.set(node, now() + SILENT_MS),
    });
    const said = answers.map(({ answer }) => answer);
    const most = findMost(said, describe);
    const isAgreed = most.length >= MAJORITY || said.length === 1;
    noteDispute('a transaction before it is sent', isAgreed ? [] : said.map(state));
    return isAgreed ? takeDearest(most) : undefined;
  };
}
