import { askEach, type Simulated } from '@prism-gateway/node/rpc';
import type { ChainReader } from '../chain/chainReader.ts';
import { decodeReason } from '../chain/decodeReason.ts';
import type { RelayerContext } from '../lifecycle/context.ts';
import { countVotes, MAJORITY, reportDispute } from './askNodes.ts';

/** How long the other nodes are waited for once one has answered, and how long one that was silent then is not, in milliseconds. */
const TIMEOUT_MS = 2000;
const SILENT_MS = 30_000;

/** The result without its gas: that of two nodes differs by what each knows of the state. */
const describe = (simulated: Simulated) =>
  'reverted' in simulated ? 'that it would revert' : `that it would return ${simulated.returned}`;

function says(simulated: Simulated): string {
  if ('reverted' in simulated) return `that it would revert: ${decodeReason(simulated.reverted)}`;
  return `that it would be carried out, with ${simulated.gas} gas`;
}

const gasOf = (simulated: Simulated) => ('reverted' in simulated ? 0n : simulated.gas);

/**
 * Simulates a transaction before it is sent, which costs money if it is wrong: of several nodes two have to say what it would do, more than
 * say otherwise, or the only one that answers. While they do not agree it is not sent, and the health says which says what.
 *
 * @returns of those that agree the one that needs most gas, for what is not used is not paid; undefined if they do not agree
 * @throws ChainError if none answers
 * @see docs/specification.md RELAY-15
 */
export async function simulateAtNodes(
  { chain, events, monotonicNow }: RelayerContext,
  ...simulation: Parameters<ChainReader['simulate']>
): Promise<Simulated | undefined> {
  const { nodes, reader } = chain;
  if (nodes.length < MAJORITY) return await reader.simulate(...simulation);
  const answers = await askEach(nodes, {
    ask: async (node) => ({ node, vote: await node.reader.simulate(...simulation) }),
    isWell: (node) => node.silence.untilMs <= monotonicNow(),
    timeoutMs: TIMEOUT_MS,
    onSilent: ({ silence }) => {
      silence.untilMs = monotonicNow() + SILENT_MS;
    },
  });
  const votes = answers.map(({ answer }) => answer);
  const { agreed, most } = countVotes(votes, { describe });
  reportDispute(events, { subject: 'a transaction before it is sent', votes, agreed }, { describe, says });
  if (agreed === undefined) return undefined;
  return most.toSorted((one, other) => (gasOf(one.vote) < gasOf(other.vote) ? 1 : -1))[0]?.vote;
}
