import type { Log } from 'viem';
import { encodeAbiParameters, encodeEventTopics, keccak256, toHex } from 'viem/utils';
import { describe, expect, it } from 'vitest';
import { forwarderAbi } from './generated/forwarderAbi.ts';
import { hashAction, readRequestExecuted } from './requestExecuted.ts';

const forwarder = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const signer = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const relayer = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

function logOf(address: `0x${string}`, action: `0x${string}`, logIndex: number): Log {
  const topics = encodeEventTopics({
    abi: forwarderAbi,
    eventName: 'RequestExecuted',
    args: { signer, nonce: 5n, action },
  });
  const data = encodeAbiParameters(
    [{ type: 'bool' }, { type: 'address' }, { type: 'uint256' }, { type: 'bytes' }],
    [true, relayer, 7n, '0x'],
  );
  // The rest of a log says nothing here.
  return { address, topics, data, logIndex } as unknown as Log;
}

describe('readRequestExecuted', () => {
  // Shows CHAIN-12.
  it('reads the events of that Forwarder in their order, and of no other contract', () => {
    const action = hashAction('WRITE_DATA_FOR');
    const imposter = logOf(relayer, action, 1);
    const events = readRequestExecuted({
      logs: [logOf(forwarder, action, 0), imposter, logOf(forwarder, hashAction('DELETE_PRISM_FOR'), 2)],
      forwarder: forwarder.toLowerCase(),
    });
    const event = { signer, nonce: 5n, success: true, relayer, relayerFee: 7n, reason: '0x' };
    expect(events).toEqual([
      { ...event, action: 'WRITE_DATA_FOR', logIndex: 0 },
      { ...event, action: 'DELETE_PRISM_FOR', logIndex: 2 },
    ]);
  });

  it('knows no action by a hash that is none', () => {
    const [event] = readRequestExecuted({ logs: [logOf(forwarder, keccak256(toHex('else')), 0)], forwarder });
    expect(event?.action).toBeUndefined();
  });
});
