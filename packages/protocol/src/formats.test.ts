import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseWith } from './errors/fault.ts';
import * as formats from './formats.ts';
import { codePointsFormat, UINT256_MAX } from './formats.ts';

type Format = Parameters<typeof parseWith>[0];

const accepts = (format: Format, value: unknown) => 'value' in parseWith(format, value);

/** Time that this process has computed for, in milliseconds: a loaded machine adds nothing to it. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Checks lists of right and wrong values of one format. */
function checkFormat(format: Format, right: readonly unknown[], wrong: readonly unknown[]) {
  test.each(right.map((value) => [value]))('takes %j', (value) => {
    expect(parseWith(format, value)).toEqual({ value });
  });
  test.each([undefined, null, true, [], {}, ...wrong].map((value) => [value]))('refuses %j', (value) => {
    expect(accepts(format, value)).toBe(false);
  });
}

const numbers = {
  relayerFee: formats.relayerFeeFormat,
  fundAmount: formats.fundAmountFormat,
  relayerFundAmount: formats.relayerFundAmountFormat,
  timestamp: formats.timestampFormat,
  'permit.deadline': formats.deadlineFormat,
};

describe.each(Object.entries(numbers))('%s', (_, format) => {
  checkFormat(
    format,
    ['0', '1', '10', String(UINT256_MAX), String(UINT256_MAX - 1n), '9'.repeat(77)],
    [
      ...[
        1,
        0,
        '',
        ' ',
        '00',
        '01',
        '+1',
        '-1',
        '-0',
        '1.0',
        '1e3',
        '0x1',
        '1_000',
        '1,000',
        ' 1',
        '1 ',
        '1\n',
        'a',
        '１',
      ],
      ...[String(UINT256_MAX + 1n), String(2n ** 256n * 10n), '9'.repeat(78), '9'.repeat(79), `0${UINT256_MAX}`],
      // As long as the largest number, and longer, without being one: neither may throw.
      ...['x'.repeat(78), `${'9'.repeat(77)}x`, ' '.repeat(78), '²'.repeat(78), 'x'.repeat(1000)],
    ],
  );

  test('takes a decimal number exactly when it is at most uint256', () => {
    const near = fc.bigInt({ min: -1000n, max: 1000n }).map((distance) => UINT256_MAX + distance);
    fc.assert(
      fc.property(fc.oneof(near, fc.bigInt({ min: 0n, max: 2n ** 260n })), (number) => {
        expect(accepts(format, String(number))).toBe(number <= UINT256_MAX);
      }),
    );
  });
});

describe('an address', () => {
  const digits = '70997970C51812dc3A010C7d01b50e0d17dc79C8';
  checkFormat(
    formats.addressFormat,
    // A wrong checksum is no fault: letter case does not count.
    [`0x${digits}`, `0x${digits.toLowerCase()}`, `0x${digits.toUpperCase()}`, `0x${'0'.repeat(40)}`],
    [
      digits,
      `0X${digits}`,
      `0x${digits}0`,
      `0x${digits.slice(1)}`,
      `0x${digits}\n`,
      ` 0x${digits}`,
      `0xg${digits.slice(1)}`,
      '0x',
      '',
    ],
  );
});

const ids = { cloudId: formats.cloudIdFormat, dataId: formats.dataIdFormat, salt: formats.saltFormat };

describe.each(Object.entries(ids))('%s', (_, format) => {
  checkFormat(
    format,
    ['0x00', '0xAb', `0x${'cd'.repeat(31)}`, `0x${'cd'.repeat(32)}`],
    ['', '0x', '0x0', '0x000', `0x${'cd'.repeat(33)}`, `0x${'cd'.repeat(32)}0`, '00', '0X00', '0xzz', '0x00\n', 'abcd'],
  );
});

describe('payload', () => {
  checkFormat(
    formats.payloadFormat,
    ['0x', '0x00', '0xABcd', `0x${'ab'.repeat(10_000)}`],
    ['', '0', '0x0', '0x000', 'abcd', '0X', '0x0g', '0x\n', ' 0x'],
  );
});

const words = { 'half of a signature': formats.bytes32Format, txHash: formats.txHashFormat };

describe.each(Object.entries(words))('%s', (_, format) => {
  checkFormat(
    format,
    [`0x${'ab'.repeat(32)}`, `0x${'AB'.repeat(32)}`, `0x${'0'.repeat(64)}`],
    [
      '',
      '0x',
      'ab'.repeat(32),
      `0x${'ab'.repeat(31)}`,
      `0x${'ab'.repeat(33)}`,
      `0x${'zz'.repeat(32)}`,
      `0x${'ab'.repeat(32)}\n`,
    ],
  );
});

describe('v', () => {
  checkFormat(
    formats.recoveryValueFormat,
    [0, 1, 27, 28, 255],
    [-1, 256, 1.5, '27', '0x1b', NaN, Infinity, 2 ** 53, 1e300],
  );
});

describe('chainName', () => {
  checkFormat(
    formats.chainNameFormat,
    ['a', '1', 'eip155:31337', 'base-sepolia', 'a_b.c-d:e', `cosmos:${'x'.repeat(57)}`],
    ['', '-a', '.a', ':a', '_a', 'a b', 'a/b', 'a\n', 'ä', 'a%20', 'x'.repeat(65), 1],
  );
});

describe('requestId', () => {
  const versions = [1, 2, 3, 4, 5, 6, 7, 8].map((version) => `0197c2a4-5b1e-${version}c3d-8f60-0242ac120002`);
  checkFormat(
    formats.requestIdFormat,
    [
      ...versions,
      '0197C2A4-5B1E-7C3D-8F60-0242AC120002',
      ...['9', 'a', 'b', 'A', 'B'].map((variant) => `0197c2a4-5b1e-7c3d-${variant}f60-0242ac120002`),
      '00000000-0000-0000-0000-000000000000',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
      'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
    ],
    [
      '',
      '0197c2a45b1e7c3d8f600242ac120002',
      '{0197c2a4-5b1e-7c3d-8f60-0242ac120002}',
      'urn:uuid:0197c2a4-5b1e-7c3d-8f60-0242ac120002',
      '0197c2a4-5b1e-0c3d-8f60-0242ac120002',
      '0197c2a4-5b1e-9c3d-8f60-0242ac120002',
      '0197c2a4-5b1e-7c3d-7f60-0242ac120002',
      '0197c2a4-5b1e-7c3d-cf60-0242ac120002',
      '0197c2a4-5b1e-7c3d-8f60-0242ac12000',
      '0197c2a4-5b1e-7c3d-8f60-0242ac1200022',
      '0197c2a4-5b1e-7c3d-8f60-0242ac12000g',
      '0197c2a4-5b1e-7c3d-8f60-0242ac120002\n',
    ],
  );
});

describe('a time', () => {
  checkFormat(
    formats.isoTimeFormat,
    ['2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000+00:00', '2026-01-01', '1767225600000', 1767225600000],
  );
});

describe('a text of at most 3 code points', () => {
  checkFormat(
    codePointsFormat(3, 'Text', 'abc'),
    ['a', 'abc', '💸💸💸', 'ä€💸', '\n', '\u0000', ' '],
    ['', 'abcd', '💸💸💸💸', '💸💸💸a', '\ud800', 'a\udc00', '\udc00\ud800', 1],
  );
});

describe('a fault', () => {
  test('says that a missing field is required, and what was expected of a wrong one', () => {
    const expected = 'expected 0x followed by 40 hex digits';
    expect(parseWith(formats.addressFormat, undefined)).toEqual({
      faults: [{ path: 'body', message: `required: ${expected}` }],
    });
    expect(parseWith(formats.addressFormat, null)).toEqual({ faults: [{ path: 'body', message: expected }] });
  });

  test('never repeats the value', () => {
    for (const format of [...Object.values(numbers), ...Object.values(ids), formats.chainNameFormat]) {
      expect(JSON.stringify(parseWith(format, 'sesame!'.repeat(20)))).not.toContain('sesame');
    }
  });
});

describe('no text of 256 kB takes long', () => {
  const size = 262_144;
  const every = Object.entries(formats).filter(([name]) => name.endsWith('Format') && name !== 'codePointsFormat');
  const texts = [
    `0x${'ab'.repeat(size / 2 - 1)}`,
    `0x${'ab'.repeat(size / 2 - 2)}a`,
    `0x${'ab'.repeat(size / 2 - 2)}ag`,
    '9'.repeat(size),
    `${'1'.repeat(size - 1)}x`,
    'a'.repeat(size),
    `a${'.:-_'.repeat(size / 4 - 1)}!`,
    '0197c2a4-'.repeat(size / 9),
    'f'.repeat(size),
    `${'0'.repeat(size - 1)}\n`,
    ' '.repeat(size),
  ];

  test.each(every)('%s', (_, format) => {
    const start = cpuMs();
    // The names that end in `Format` are schemas, but for the one that makes them.
    for (const text of texts) accepts(format as Format, text);
    // Some 10 ms for all; a pattern that backtracks without end would take minutes.
    expect(cpuMs() - start).toBeLessThan(2000);
  });

  test('a text of code points', () => {
    const start = cpuMs();
    for (const text of texts) accepts(codePointsFormat(1000, 'Text', 'a'), text);
    expect(cpuMs() - start).toBeLessThan(2000);
  });
});
