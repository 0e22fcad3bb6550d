import { expect, test } from 'vitest';
import file from '../../vectors/typed-data.json' with { type: 'json' };
import { deriveCloudId } from './deriveCloudId.ts';

const [known] = file.cloudIds as [(typeof file.cloudIds)[number], ...unknown[]];

test('the id depends on the bytes of signer and salt, not on how they are written', () => {
  expect(deriveCloudId(known)).toBe(known.cloudId);
  expect(deriveCloudId({ signer: known.signer.toLowerCase(), salt: '0x2A' })).toBe(known.cloudId);
  expect(deriveCloudId({ ...known, salt: `0x${'2a'.padStart(64, '0')}` })).toBe(known.cloudId);
});

test('another signer or salt gives another id', () => {
  expect(deriveCloudId({ ...known, salt: '0x2b' })).not.toBe(known.cloudId);
  expect(deriveCloudId({ ...known, salt: '0x2a00' })).not.toBe(known.cloudId);
  expect(deriveCloudId({ ...known, signer: `0x${'1'.repeat(40)}` })).not.toBe(known.cloudId);
});
