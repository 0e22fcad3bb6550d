import type { Simulated } from '@prism-gateway/node/rpc';
import { expect, test, vi } from 'vitest';
import { makeContext } from '../../test/makeContext.ts';
import { ChainError } from '../chain/chainError.ts';
import type { ChainReader } from '../chain/chainReader.ts';
import { simulateAtNodes } from './simulateAtNodes.ts';

type Simulates = Pick<ChainReader, 'simulate'>;
const says = (simulated: Simulated): Simulates => ({ simulate: async () => simulated });
const [well, dearer] = [50n, 60n].map((gas) => says({ gas, returned: '0x' })) as [Simulates, Simulates];
const other = says({ gas: 50n, returned: '0x01' });
const reverts = says({ reverted: '0x' });
const fails: Simulates = {
  simulate: async () => {
    throw new ChainError('RPC_UNAVAILABLE', 'The node did not answer.');
  },
};
const isSilent: Simulates = { simulate: () => new Promise(() => undefined) };

function simulate(nodes: readonly Simulates[]) {
  const disputes: number[] = [];
  const context = makeContext({
    chain: { reader: nodes[0] ?? fails, nodes: nodes.map((reader, index) => ({ name: `node ${index + 1}`, reader })) },
    listeners: [
      (event) => {
        if (event.type === 'nodes-asked') disputes.push(event.dispute.length);
      },
    ],
  });
  const simulateTogether = () => simulateAtNodes(context, '0x', { seconds: 1n });
  return { reported: simulateTogether(), disputes, simulateTogether };
}

// Shows RELAY-15.
test.each<[string, readonly Simulates[], Simulated | undefined]>([
  ['one node alone', [reverts], { reverted: '0x' }],
  ['two that agree, with the gas of the dearer one', [well, dearer], { gas: 60n, returned: '0x' }],
  ['two of three', [well, reverts, reverts], { reverted: '0x' }],
  ['one, while the other does not answer', [well, fails], { gas: 50n, returned: '0x' }],
  ['one against one', [well, reverts], undefined],
  ['two of which one lets other entries fail', [well, other], undefined],
])('what %s say of a transaction counts before it is sent', async (_, nodes, expected) => {
  const { reported, disputes } = simulate(nodes);
  expect(await reported).toEqual(expected);
  expect(disputes.at(-1) ?? 0).toBe(expected === undefined ? 2 : 0);
});

test('a node that is silent is waited for once', async () => {
  vi.useFakeTimers();
  try {
    const { reported, simulateTogether } = simulate([well, isSilent]);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await reported).toEqual({ gas: 50n, returned: '0x' });
    // No time passes.
    expect(await simulateTogether()).toEqual({ gas: 50n, returned: '0x' });
  } finally {
    vi.useRealTimers();
  }
});

test('nothing is said where none answers', async () => {
  await expect(simulate([fails, fails]).reported).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' });
});
