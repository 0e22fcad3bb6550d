import { describe, expect, test } from 'vitest';
import { parseWith } from '../errors/fault.ts';
import { addRelayerSchema } from './relayer.ts';

const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const pathsOf = (input: unknown) => {
  const parsed = parseWith(addRelayerSchema, input);
  return 'faults' in parsed ? parsed.faults.map(({ path }) => path) : [];
};

describe('takes', () => {
  test.each([
    [{ address }],
    [{ address: address.toLowerCase() }],
    [{ address, label: 'relayer-eu-1' }],
    [{ address, label: '💸'.repeat(200) }],
  ])('%j', (body) => {
    expect(parseWith(addRelayerSchema, body)).toEqual({ value: body });
  });
});

describe('refuses', () => {
  test.each([
    [{}, ['address']],
    [{ address: '0x1' }, ['address']],
    [{ address: null, label: 1 }, ['address', 'label']],
    [{ address, label: '' }, ['label']],
    [{ address, label: null }, ['label']],
    [{ address, label: 'x'.repeat(201) }, ['label']],
    [{ address, name: 'x' }, ['name']],
    [JSON.parse(`{"address":"${address}","__proto__":1}`), ['__proto__']],
    [null, ['body']],
    [[address], ['body']],
  ])('%j', (body, paths) => {
    expect(pathsOf(body)).toEqual(paths);
  });
});
