import type { Log } from 'viem';
import { encodeAbiParameters, encodeEventTopics, keccak256, toHex } from 'viem/utils';
import { describe, expect, it } from 'vitest';
import { forwarderAbi } from './generated/forwarderAbi.ts';
import { readRequestExecuted } from './requestExecuted.ts';

const forwarder = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const signer = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const relayer = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

const digestOf = (text: string) => keccak256(toHex(text));

function executedLog(address: `0x${string}`, digest: `0x${string}`, logIndex: number): Log {
  const topics = encodeEventTopics({
    abi: forwarderAbi,
    eventName: 'RequestExecuted',
    args: { digest, signer, nonce: 5n },
  });
  const data = encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [relayer, 7n]);
  // The rest of a log says nothing here.
  return { address, topics, data, logIndex } as unknown as Log;
}

function refusedLog(address: `0x${string}`, digest: `0x${string}`, logIndex: number): Log {
  const topics = encodeEventTopics({
    abi: forwarderAbi,
    eventName: 'RequestRefused',
    args: { digest, signer, nonce: 6n },
  });
  const data = encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], [relayer, '0xbad0']);
  return { address, topics, data, logIndex } as unknown as Log;
}

describe('readRequestExecuted', () => {
  // Shows CHAIN-12.
  it('reads the events of that Forwarder in their order, and of no other contract', () => {
    const [first, second] = [digestOf('first'), digestOf('second')];
    const events = readRequestExecuted({
      logs: [executedLog(forwarder, first, 0), executedLog(relayer, first, 1), refusedLog(forwarder, second, 2)],
      forwarder: forwarder.toLowerCase(),
    });
    expect(events).toEqual([
      { digest: first, signer, nonce: 5n, success: true, relayer, relayerFee: 7n, reason: '0x', logIndex: 0 },
      { digest: second, signer, nonce: 6n, success: false, relayer, relayerFee: 0n, reason: '0xbad0', logIndex: 2 },
    ]);
  });
});
