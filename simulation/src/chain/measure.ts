/** Measures what a simulated chain takes for its work: `node simulation/src/chain/measure.ts`. */
import { forwarderAbi } from '@prism-gateway/contracts';
import { encodeFunctionData, type Hex, numberToHex } from 'viem';
import { type DeployedChain, encodeWrite, relayer, sign, startDeployedChain } from './chain.rig.ts';

const USERS = 20;
const ROUNDS = 300;
const BLOCKS_BEFORE = 200;

/** Microseconds a turn. */
async function time(rounds: number, work: (round: number) => Promise<unknown>): Promise<number> {
  for (let round = 0; round < Math.min(rounds, 20); round++) await work(-round - 1);
  const began = process.hrtime.bigint();
  for (let round = 0; round < rounds; round++) await work(round);
  return Number(process.hrtime.bigint() - began) / 1000 / rounds;
}

function print(name: string, microseconds: number): void {
  process.stdout.write(`${name.padEnd(46)} ${microseconds.toFixed(1).padStart(10)} µs\n`);
}

/** Blocks with a write of each of some users. */
async function mineWrites(world: DeployedChain, writes: number, blocks: number): Promise<number> {
  const { chain, prisms, deployment, node } = world;
  let total = 0n;
  for (let count = 0; count < blocks; count++) {
    const first = chain.nonce(relayer.address);
    for (const [place, user] of prisms.slice(0, writes).entries()) {
      const nonce = BigInt(`${await readNonce(world, user.account.address)}`);
      const data = await encodeWrite(world, user, nonce);
      const raw = await sign(relayer, { nonce: first + place, to: deployment.forwarder, data, gas: 400_000n });
      await node.request('eth_sendRawTransaction', [raw]);
    }
    const began = process.hrtime.bigint();
    const { transactions } = await chain.mine();
    total += process.hrtime.bigint() - began;
    if (!transactions.every(({ isSuccess }) => isSuccess)) throw new Error('A write failed.');
  }
  return Number(total) / 1000 / blocks;
}

const encodeNonces = (signer: Hex) => encodeFunctionData({ abi: forwarderAbi, functionName: 'nonces', args: [signer] });
const readNonce = ({ chain, deployment }: DeployedChain, signer: Hex) =>
  chain.call({ to: deployment.forwarder, data: encodeNonces(signer) });

async function measure(): Promise<void> {
  const world = await startDeployedChain(USERS);
  const { chain, node, deployment, prisms } = world;
  for (let count = 0; count < BLOCKS_BEFORE; count++) await chain.mine();
  const [user] = prisms;
  if (user === undefined) throw new Error('There are users.');
  const ask = (method: string, params: readonly unknown[]) => node.request(method, params);
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['latest', false] });
  print('eth_blockNumber', await time(20_000, () => ask('eth_blockNumber', [])));
  print('eth_getBlockByNumber', await time(20_000, () => ask('eth_getBlockByNumber', ['latest', false])));
  print('eth_getBlockByNumber, from text to text', await time(20_000, () => node.handleText(text)));
  print('eth_feeHistory of 20 blocks', await time(2000, () => ask('eth_feeHistory', ['0x14', 'latest', [20]])));
  const filter = { address: deployment.forwarder, fromBlock: '0x0', toBlock: 'latest' };
  print(`eth_getLogs over ${chain.head().number} blocks`, await time(5000, () => ask('eth_getLogs', [filter])));
  print(
    'eth_getTransactionCount',
    await time(20_000, () => ask('eth_getTransactionCount', [relayer.address, 'latest'])),
  );
  // A caller of its own each time, so that no answer is remembered.
  const caller = (round: number) => numberToHex(round + 10_000, { size: 20 });
  const nonces = { to: deployment.forwarder, data: encodeNonces(user.account.address) };
  print(
    'eth_call of nonces(signer)',
    await time(2000, (round) => ask('eth_call', [{ ...nonces, from: caller(round) }])),
  );
  print('  the same again', await time(20_000, () => ask('eth_call', [nonces])));
  const data = await encodeWrite(world, user, BigInt(`${await readNonce(world, user.account.address)}`));
  const write = { from: relayer.address, to: deployment.forwarder, data };
  const simulated = (round: number) => [
    {
      blockStateCalls: [
        { blockOverrides: { time: numberToHex(chain.head().timestampSeconds + 30 + round) }, calls: [write] },
      ],
    },
    'latest',
  ];
  print('eth_simulateV1 of a write', await time(ROUNDS, (round) => ask('eth_simulateV1', simulated(round))));
  const estimated = (round: number) => [{ ...write, gas: numberToHex(2_000_000 + round) }];
  print('eth_estimateGas of a write', await time(ROUNDS, (round) => ask('eth_estimateGas', estimated(round))));
  print('a block without transactions', await time(ROUNDS, () => chain.mine()));
  await mineWrites(world, 1, 20);
  print('a block with 1 write', await mineWrites(world, 1, 50));
  print('a block with 20 writes', await mineWrites(world, USERS, 20));
}

await measure();
